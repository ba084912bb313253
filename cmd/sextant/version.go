package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// versionCommand prints what this binary is.
type versionCommand struct {
	jsonFlag
}

// release names the build; go build sets Version from the tag or the commit.
type release struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func currentRelease() release {
	r := release{Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return r
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		r.Version = v
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			r.Revision = setting.Value
		}
	}
	return r
}

// Run prints.
func (c *versionCommand) Run(s *session) error {
	r := currentRelease()
	return s.print(reply[release]{value: r}, func(p *page) {
		p.text("", fmt.Sprintf("sextant %s (%s, %s)", r.Version, r.Go, r.Platform))
	})
}
