//go:build !linux

package main

import "time"

// What resident and processor say is not known here.
func resident() int64          { return 0 }
func processor() time.Duration { return 0 }
