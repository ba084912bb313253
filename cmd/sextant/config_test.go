package main

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestConfigLayers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sextant.yaml")
	text := "data: /from/file\nserve:\n  host: 10.0.0.1\n  port: 81\n  keys: [file-key]\n  allow_origins: [https://lab.example]\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := loadConfig("", environment{"SEXTANT_CONFIG": path, "API_PORT": "82", "SEXTANT_KEY": "env-key"})
	if err != nil {
		t.Fatal(err)
	}
	port := 83
	flags := serveFlags{Port: &port, AllowOrigin: []string{"https://two.example"}}
	got := flags.over(c.Serve)
	if c.Data != "/from/file" || got.Host != "10.0.0.1" || *got.Port != 83 || *c.Serve.Port != 82 {
		t.Errorf("data %q, host %q, port %d over %d", c.Data, got.Host, *got.Port, *c.Serve.Port)
	}
	if diff := cmp.Diff([]string{"env-key"}, got.Keys); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"https://lab.example", "https://two.example"}, got.AllowOrigins); diff != "" {
		t.Errorf("origins (-want +got):\n%s", diff)
	}
}

func TestEmptyConfigIsNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "empty.yaml")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := loadConfig(path, nil); err != nil {
		t.Error(err)
	}
}

func TestDataFolder(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux: other systems have places of their own")
	}
	for _, tt := range []struct {
		env  environment
		want string
	}{
		{environment{"HOME": "/home/amelia"}, "/home/amelia/.local/share/sextant"},
		{environment{"HOME": "/home/amelia", "XDG_DATA_HOME": "/data"}, "/data/sextant"},
		{environment{"HOME": "/home/amelia", "XDG_DATA_HOME": "relative"}, "/home/amelia/.local/share/sextant"},
		{environment{"XDG_DATA_HOME": "/data"}, "/data/sextant"},
	} {
		if got, err := dataFolder(tt.env); got != tt.want || err != nil {
			t.Errorf("%v: %q, %v; want %q", tt.env, got, err, tt.want)
		}
	}
	if got, err := dataFolder(nil); err == nil {
		t.Errorf("no home: %q, want an error", got)
	}
}
