package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/pipeline"
	"github.com/sextant-rag/sextant/trace"
	"github.com/sextant-rag/sextant/trace/mlflow"
	"github.com/sextant-rag/sextant/trace/otlp"
)

// tracesConfig says what is kept of each question, and where else it goes. Credentials
// are read from the environment alone: MLFLOW_TRACKING_USERNAME, _PASSWORD and _TOKEN,
// OTEL_EXPORTER_OTLP_HEADERS.
type tracesConfig struct {
	Off            bool   `yaml:"off"`             // keep none (SEXTANT_TRACES=off)
	WithoutContent bool   `yaml:"without_content"` // keep names, times and numbers only (SEXTANT_TRACE_CONTENT=off)
	KeepDays       int    `yaml:"keep_days"`       // 0: 30
	MaxMB          int    `yaml:"max_mb"`          // 0: 1,024
	MLflow         string `yaml:"mlflow"`          // URI of the tracking server; "" is none (MLFLOW_TRACKING_URI, unless MLFLOW_ENABLED is false)
	Experiment     string `yaml:"experiment"`      // MLFLOW_EXPERIMENT_NAME
	OTLP           string `yaml:"otlp"`            // URL of a collector's traces route; "" is none (OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT)
}

// defaultExperiment is the blueprint's.
const defaultExperiment = "agentic-rag-aviation"

// environment lays what the environment says over c.
func (c *tracesConfig) environment(env environment) error {
	for name, off := range map[string]*bool{"SEXTANT_TRACES": &c.Off, "SEXTANT_TRACE_CONTENT": &c.WithoutContent} {
		switch strings.ToLower(env[name]) {
		case "":
		case "off", "false", "0", "no":
			*off = true
		case "on", "true", "1", "yes":
			*off = false
		default:
			return usage("%s is %q; it can be on or off.", name, env[name])
		}
	}
	m, _, err := mlflow.FromEnvironment(c.lookup(env), defaultExperiment, trace.Resource{})
	if err != nil {
		return usage("%s", sentence(err.Error()))
	}
	c.MLflow, c.Experiment = m.URI, m.Experiment
	if strings.EqualFold(env["MLFLOW_ENABLED"], "false") {
		c.MLflow = ""
	}
	o, ok, err := otlp.FromEnvironment(c.lookup(env), trace.Resource{})
	if err != nil {
		return usage("%s", sentence(err.Error()))
	}
	if ok {
		c.OTLP = o.Endpoint
	}
	return nil
}

// lookup gives exporters the environment, with what the file says where it is silent.
func (c *tracesConfig) lookup(env environment) func(string) string {
	return func(name string) string {
		value := env[name]
		switch name {
		case "MLFLOW_TRACKING_URI":
			return cmp.Or(value, c.MLflow)
		case "MLFLOW_EXPERIMENT_NAME":
			return cmp.Or(value, c.Experiment)
		case "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT":
			if value == "" && env["OTEL_EXPORTER_OTLP_ENDPOINT"] == "" {
				return c.OTLP
			}
		}
		return value
	}
}

// traces is the archive of a data folder with its exporters.
type traces struct {
	*trace.Archive
	exporters []trace.Exporter
	engine    *pipeline.Engine
	stop      context.CancelFunc
	delivery  sync.WaitGroup
}

// tracesFile is the archive's name in a data folder.
const tracesFile = "traces.db"

// openTraces opens the archive. Questions are answered without one: that it cannot be
// opened is said and keeps nobody waiting.
func (s *session) openTraces(ctx context.Context, dir string, log *slog.Logger) (*traces, *trace.Recorder, error) {
	c := s.config.Traces
	if c.Off {
		return nil, nil, nil
	}
	exporters, err := s.exporters()
	if err != nil {
		return nil, nil, err
	}
	o := trace.Options{Path: filepath.Join(dir, tracesFile), MaxAge: time.Duration(c.KeepDays) * 24 * time.Hour, MaxBytes: int64(c.MaxMB) << 20, Log: log}
	for _, e := range exporters {
		o.Targets = append(o.Targets, e.Target())
	}
	archive, err := trace.Open(ctx, o)
	if err != nil {
		s.terminal.say("No trace of questions is kept: %v.", err)
		return nil, nil, nil
	}
	config, err := s.effective()
	if err != nil {
		return nil, nil, errors.Join(err, archive.Close())
	}
	return &traces{Archive: archive, exporters: exporters}, &trace.Recorder{Sink: archive, WithoutContent: c.WithoutContent, Config: config, Scrub: s.scrubber()}, nil
}

// traceResource names this process in what it sends.
func traceResource() trace.Resource {
	return trace.Resource{Service: "sextant", Version: currentRelease().Version}
}

// trackingServer is MLflow's, as it is set; ok is false when there is none.
func (s *session) trackingServer() (m mlflow.Settings, ok bool, err error) {
	m, ok, err = mlflow.FromEnvironment(s.config.Traces.lookup(s.env), defaultExperiment, traceResource())
	if err != nil {
		return m, false, usage("%s", sentence(err.Error()))
	}
	return m, ok, nil
}

func (s *session) exporters() ([]trace.Exporter, error) {
	var out []trace.Exporter
	m, ok, err := s.trackingServer()
	if err != nil {
		return nil, err
	}
	if ok {
		out = append(out, mlflow.New(m))
	}
	o, ok, err := otlp.FromEnvironment(s.config.Traces.lookup(s.env), traceResource())
	if err != nil {
		return nil, usage("%s", sentence(err.Error()))
	}
	if ok {
		e, err := otlp.New(o)
		if err != nil {
			return nil, usage("%s", sentence(err.Error()))
		}
		out = append(out, e)
	}
	return out, nil
}

// Replay implements httpapi.Traces.
func (t *traces) Replay(ctx context.Context, v trace.View) (pipeline.Replay, error) {
	return t.engine.Replay(ctx, v)
}

// deliver sends what is owed beside the questions, until close.
func (t *traces) deliver() {
	if t == nil {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	t.stop = stop
	for _, e := range t.exporters {
		t.delivery.Go(func() { t.Deliver(ctx, e) })
	}
}

// lastCall is how long a command that is about to end waits for servers to take its
// traces. What they do not take stays, and goes with the next command or server.
const lastCall = 3 * time.Second

// close writes what is waiting and, in a command that served nothing, gives the exporters
// a moment.
func (t *traces) close(say func(format string, args ...any)) {
	if t == nil {
		return
	}
	if t.stop != nil {
		t.stop()
		t.delivery.Wait()
	} else {
		ctx, cancel := context.WithTimeout(context.Background(), lastCall)
		defer cancel()
		for _, e := range t.exporters {
			if left, err := t.Drain(ctx, e); left > 0 || err != nil {
				say("%d traces wait for %s; they are kept and sent later.", left, e.Target())
			}
		}
	}
	if err := t.Archive.Close(); err != nil {
		say("The traces could not be closed: %v.", err)
	}
}

// configuration is what a trace keeps of the configuration: every setting in force, and
// of secrets only which were set and where they are read from.
type configuration struct {
	Version  string            `json:"version"`
	Revision string            `json:"revision,omitempty"`
	Settings json.RawMessage   `json:"settings"`
	Secrets  map[string]string `json:"secrets,omitempty"`
}

// effective is the configuration in force, without its secrets.
func (s *session) effective() (json.RawMessage, error) {
	c := s.config
	secrets := map[string]string{}
	for _, secret := range c.secrets() {
		if secret.isSet(s.env) {
			secrets[secret.name] = secret.variable
		}
	}
	c = c.withoutSecrets() // what a URL carries besides is taken out by its form
	settings, err := jsonOfYAML(c)
	if err != nil {
		return nil, fmt.Errorf("effective configuration: %w", err)
	}
	r := currentRelease()
	settings = json.RawMessage(s.scrubber().Text(string(settings)))
	return json.Marshal(configuration{Version: r.Version, Revision: r.Revision, Settings: settings, Secrets: secrets})
}

// scrubber knows the values of the secrets that are set.
func (s *session) scrubber() *trace.Scrubber {
	var values []string
	for _, secret := range s.config.secrets() {
		values = append(values, secret.value, s.env[secret.variable])
	}
	return trace.NewScrubber(append(values, s.config.Serve.Keys...)...)
}

// traceReader is what the verbs about traces need. As with questions there are two: the
// archive in this process, and the server that holds the data folder.
type traceReader interface {
	List(ctx context.Context, s trace.Search) ([]trace.Listed, error)
	View(ctx context.Context, id string) (trace.View, error)
	Replay(ctx context.Context, v trace.View) (pipeline.Replay, error)
}

// View is a trace of the archive by its id.
func (t *traces) View(ctx context.Context, id string) (trace.View, error) {
	parsed, err := trace.ParseID(id)
	if err != nil {
		return trace.View{}, usage("%q is no trace id: it has 32 hexadecimal digits. An answer's JSON gives it as trace_id.", id)
	}
	record, err := t.Get(ctx, parsed)
	if errors.Is(err, trace.ErrNotFound) {
		return trace.View{}, &sextant.Error{Code: sextant.CodeNotFound, Op: "traces", Message: "There is no trace " + id + ".", Hint: "`sextant trace list` shows those that are kept."}
	}
	if err != nil {
		return trace.View{}, err
	}
	return record.View(), nil
}

// readTraceFile reads an exported trace.
func readTraceFile(path string) (v trace.View, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return v, fileError("read the trace", path, err)
	}
	if err := json.Unmarshal(data, &v); err != nil || v.TraceID == "" {
		return v, &sextant.Error{Code: sextant.CodeBadRequest, Op: "read trace", Message: path + " is no exported trace.", Hint: "`sextant trace export ID` writes one.", Err: err}
	}
	return v, nil
}
