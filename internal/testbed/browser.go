//go:build unix

package testbed

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

// Screenshot saves a picture of a page as the system's Chromium draws it after some
// seconds.
func Screenshot(ctx context.Context, url, file string) error {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
		defer cancel()
		out, err := exec.CommandContext(ctx, path, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1600,1000", "--virtual-time-budget=15000", "--screenshot="+file, url).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w: %s", name, err, out)
		}
		return nil
	}
	return errors.New("there is no Chromium")
}
