//go:build !qdrant_grpc

package qdrant

import "net/url"

func newGRPC(Options, *url.URL) (transport, error) { return nil, ErrGRPC }
