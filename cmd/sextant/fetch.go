package main

import (
	"cmp"
	"net/netip"
	"strings"

	"github.com/sextant-rag/sextant/fetch"
)

// fetchConfig is about what is fetched from the network.
type fetchConfig struct {
	Permit []string `yaml:"permit"` // networks that may be reached although they are not public, as 10.1.0.0/16 (SEXTANT_FETCH_PERMIT, separated by commas)
	ECFR   string   `yaml:"ecfr"`   // address of the eCFR service (SEXTANT_ECFR_URL); "" is https://www.ecfr.gov
	Feeds  []string `yaml:"feeds"`  // addresses of news feeds (SEXTANT_FEEDS, separated by commas); none is the four of the aviation pack
}

// environment lays what the environment says over c.
func (c *fetchConfig) environment(env environment) {
	c.ECFR = cmp.Or(env["SEXTANT_ECFR_URL"], c.ECFR)
	if text := env["SEXTANT_FETCH_PERMIT"]; text != "" {
		c.Permit = strings.Split(text, ",")
	}
	if text := env["SEXTANT_FEEDS"]; text != "" {
		c.Feeds = strings.Split(text, ",")
	}
}

// client is what fetches, at most so many bytes an answer; 0 is the client's own bound.
func (c *fetchConfig) client(most int64) (*fetch.Client, error) {
	o := fetch.Options{MaxBytes: most, Agent: "sextant/" + currentRelease().Version}
	for _, text := range c.Permit {
		p, err := netip.ParsePrefix(strings.TrimSpace(text))
		if err != nil {
			return nil, usage("fetch.permit holds %q, which is no network such as 10.1.0.0/16.", text)
		}
		o.Permit = append(o.Permit, p)
	}
	return fetch.New(o), nil
}
