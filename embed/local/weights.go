//go:build !nomodel

package local

import _ "embed" // the weights

// weights is the packed model, made by ./pack. A string stays in the binary's read-only
// pages: the system loads of it what is used, and may drop it again.
//
//go:embed all-MiniLM-L6-v2.safetensors
var weights string
