package main

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"strconv"

	"github.com/sextant-rag/sextant/httpapi"
	"github.com/sextant-rag/sextant/trace"
)

// serveCommand serves until it is told to stop.
type serveCommand struct {
	serveFlags
	ReadOnly  bool       `help:"Only answer: take nothing in, and change nothing in the store (store.read_only)."`
	MaxUpload int64      `help:"Most bytes that may be sent with one job of ingestion." placeholder:"BYTES"`
	Log       slog.Level `help:"What to log: debug, info, warn or error." default:"warn" placeholder:"LEVEL"`
}

// serveFlags say where and to whom to serve. Each wins over its environment variable and
// over the same name in the configuration.
type serveFlags struct {
	Host         string   `help:"Address to serve; 127.0.0.1 otherwise (API_HOST)." placeholder:"ADDR"`
	Port         *int     `help:"Port to serve, 0 for a free one; 8000 otherwise (API_PORT)." placeholder:"N"`
	Key          []string `help:"Key to ask of clients; may be repeated (SEXTANT_KEY)." placeholder:"KEY" sep:"none"`
	AllowHost    []string `help:"Further host name to answer to; may be repeated." placeholder:"NAME" sep:"none"`
	AllowOrigin  []string `help:"Origin whose pages may use the server; may be repeated." placeholder:"URL" sep:"none"`
	AuthUpstream bool     `help:"A proxy in front asks for credentials already."`
	RootPath     string   `help:"Path under which a proxy shows the server (ROOT_PATH)." placeholder:"PATH"`
}

// over puts the flags over what the environment and the file say.
func (f *serveFlags) over(c serveConfig) httpapi.Config {
	out := httpapi.Config{
		Host:         cmp.Or(f.Host, c.Host),
		Port:         cmp.Or(f.Port, c.Port),
		Keys:         c.Keys,
		AllowHosts:   append(c.AllowHosts, f.AllowHost...),
		AllowOrigins: append(c.AllowOrigins, f.AllowOrigin...),
		AuthUpstream: f.AuthUpstream || c.AuthUpstream,
		RootPath:     cmp.Or(f.RootPath, c.RootPath),
		Version:      currentRelease().Version,
		Blueprint:    blueprint(),
	}
	if len(f.Key) > 0 {
		out.Keys = f.Key
	}
	return out
}

// Run serves.
func (c *serveCommand) Run(ctx context.Context, s *session) error {
	options := c.over(s.config.Serve)
	options.Log = s.log(c.Log)
	s.config.Store.ReadOnly = s.config.Store.ReadOnly || c.ReadOnly
	e, err := s.openTraced(ctx, s.config.Data)
	if err != nil {
		return err
	}
	defer e.close()
	if s.config.Store.ReadOnly {
		return s.serve(ctx, e, options)
	}
	if options.Desk, err = s.openDesk(ctx, e, c.MaxUpload); err != nil {
		return s.storeError(err)
	}
	defer options.Desk.Close()
	options.Records = s.records(e.store)
	return s.serve(ctx, e, options)
}

// defaultLog is what a server says without being asked: what an operator has to act on.
const defaultLog = slog.LevelWarn

func (s *session) log(level slog.Level) *slog.Logger {
	return slog.New(trace.LogHandler(slog.NewTextHandler(s.terminal.err, &slog.HandlerOptions{Level: level}), s.scrubber()))
}

// free reports whether an address can be bound right now.
func free(ctx context.Context, host string, port int) bool {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(cmp.Or(host, "127.0.0.1"), strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// serve binds, then announces, then serves until ctx ends.
func (s *session) serve(ctx context.Context, e *engine, options httpapi.Config) error {
	options.Models.Embedding = e.encoder.model()
	options.Models.Refinement, options.Models.Generation = s.config.Models.names()
	if e.traces != nil {
		options.Traces = e.traces
		e.traces.deliver()
	}
	server, err := httpapi.New(e, options)
	if err != nil {
		return err
	}
	address, err := server.Listen(ctx)
	if err != nil {
		return err
	}
	if folder, ok := e.store.(interface{ Announce(string) error }); ok && !s.config.Store.ReadOnly {
		if err := folder.Announce(address); err != nil {
			return err
		}
	}
	go func() {
		if err := e.Warm(ctx); err != nil && ctx.Err() == nil {
			s.log(defaultLog).Warn("the encoder failed; texts are found by their words until it works", "reason", err)
		}
	}()
	s.terminal.say("Sextant serves %s at %s", s.holding(), address)
	s.terminal.say("Stop it with Ctrl-C.")
	return server.Serve(ctx)
}
