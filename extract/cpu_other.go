//go:build !unix

package extract

import "time"

// processTime stands for what this process has used of the processor: the clock, where
// that is not known.
func processTime() time.Duration { return time.Since(started) }

var started = time.Now()
