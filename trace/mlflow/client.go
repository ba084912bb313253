package mlflow

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/sextant-rag/sextant/trace"
)

// Settings say where the tracking server is, under the names of MLflow's own clients.
type Settings struct {
	URI        string // MLFLOW_TRACKING_URI, with the server's path prefix if it has one
	User       string // MLFLOW_TRACKING_USERNAME, for basic authentication
	Password   string // MLFLOW_TRACKING_PASSWORD
	Token      string // MLFLOW_TRACKING_TOKEN, for a bearer token
	Experiment string // MLFLOW_EXPERIMENT_NAME
	Resource   trace.Resource
	// Timeout of one request; 0: 40 s. A locked SQLite file answers after 20.
	Timeout time.Duration
}

// FromEnvironment reads MLflow's variables. ok is false when there is no server, or
// MLFLOW_ENABLED turns it off.
func FromEnvironment(get func(name string) string, experiment string, from trace.Resource) (s Settings, ok bool, err error) {
	s = Settings{URI: strings.TrimRight(get("MLFLOW_TRACKING_URI"), "/"), User: get("MLFLOW_TRACKING_USERNAME"), Password: get("MLFLOW_TRACKING_PASSWORD"), Token: get("MLFLOW_TRACKING_TOKEN"),
		Experiment: cmp.Or(get("MLFLOW_EXPERIMENT_NAME"), experiment), Resource: from}
	switch enabled := strings.ToLower(get("MLFLOW_ENABLED")); enabled {
	case "", "true", "1", "yes", "on":
	case "false", "0", "no", "off":
		return s, false, nil
	default:
		return s, false, fmt.Errorf("MLFLOW_ENABLED is %q: use true or false", enabled)
	}
	if s.URI == "" {
		return s, false, nil
	}
	if u, err := url.Parse(s.URI); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return s, false, errors.New("MLFLOW_TRACKING_URI is no http or https URL")
	}
	return s, true, nil
}

// client speaks MLflow's REST API.
type client struct {
	settings Settings
	http     *http.Client
}

func newClient(s Settings) *client {
	return &client{settings: s, http: &http.Client{Timeout: cmp.Or(s.Timeout, 40*time.Second),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// refusal is an answer of the server that is not the one asked for.
type refusal struct {
	status  int
	code    string // error_code of MLflow, "" from anything before it
	message string
	plain   bool // text/plain: the host check, not MLflow's API
	after   time.Duration
}

func (e *refusal) Error() string {
	hint := ""
	switch {
	case e.status == http.StatusForbidden && e.plain:
		hint = " (the server does not know the name it was called by: start it with --allowed-hosts)"
	case e.status == http.StatusUnauthorized:
		hint = " (check MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or MLFLOW_TRACKING_TOKEN)"
	case e.status == http.StatusNotImplemented:
		hint = " (traces need a server with a database behind it)"
	}
	return strings.TrimSpace(fmt.Sprintf("MLflow answered %d %s", e.status, cmp.Or(e.code, e.message))) + hint
}

// sendError says what a refusal means for the item that was being sent. Only what the
// server calls invalid is the item's own fault. A wrong key, host or route is the
// configuration's: nothing may be thrown away for it.
func (e *refusal) sendError() *trace.SendError {
	switch {
	case e.status == http.StatusBadRequest && e.code == "INVALID_PARAMETER_VALUE", e.status == http.StatusRequestEntityTooLarge, e.status == http.StatusUnprocessableEntity:
		return &trace.SendError{Err: e, Refused: true}
	case e.status == http.StatusBadRequest, e.status == http.StatusInternalServerError:
		return &trace.SendError{Err: e, Doubtful: true} // lost races in its database answer so too
	}
	return &trace.SendError{Err: e, After: e.after}
}

// maxAnswer bounds what is read of an answer.
const maxAnswer = 16 << 20

func (c *client) do(ctx context.Context, method, path string, header http.Header, body io.Reader) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.settings.URI+path, body)
	if err != nil {
		return nil, fmt.Errorf("request to MLflow: %w", err)
	}
	for key, values := range header {
		req.Header[key] = values
	}
	switch {
	case c.settings.User != "":
		req.SetBasicAuth(c.settings.User, c.settings.Password)
	case c.settings.Token != "":
		req.Header.Set("Authorization", "Bearer "+c.settings.Token)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("MLflow cannot be reached: %w", err)
	}
	defer res.Body.Close()
	out, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if res.StatusCode/100 == 2 && err == nil {
		return out, nil
	}
	if err != nil && res.StatusCode/100 == 2 {
		return nil, fmt.Errorf("the answer of MLflow broke off: %w", err)
	}
	return nil, refused(res, out)
}

func refused(res *http.Response, body []byte) *refusal {
	e := &refusal{status: res.StatusCode, after: trace.RetryAfter(res.Header), plain: strings.HasPrefix(res.Header.Get("Content-Type"), "text/plain")}
	var answer struct {
		Code    string `json:"error_code"`
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &answer) == nil {
		e.code, e.message = answer.Code, answer.Message
	}
	if e.message == "" && e.plain {
		e.message = string(body[:min(len(body), 200)])
	}
	return e
}

// call sends and reads JSON. out may be nil.
func (c *client) call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	header := http.Header{}
	if in != nil {
		encoded, err := json.Marshal(in)
		if err != nil {
			return &trace.SendError{Err: fmt.Errorf("encode for MLflow: %w", err), Refused: true}
		}
		body = bytes.NewReader(encoded)
		header.Set("Content-Type", "application/json")
	}
	answer, err := c.do(ctx, method, path, header, body)
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("the answer of MLflow cannot be read: %w", err)
	}
	return nil
}

// pair is how MLflow writes tags and parameters.
type pair struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// experiment finds the experiment or makes it. Another process may be making it too. One
// that was deleted would swallow everything with a 200, so that is an error.
func (c *client) experiment(ctx context.Context) (string, error) {
	for range 2 {
		var found struct {
			Experiment struct {
				ID    string `json:"experiment_id"`
				Stage string `json:"lifecycle_stage"`
			} `json:"experiment"`
		}
		err := c.call(ctx, http.MethodGet, "/api/2.0/mlflow/experiments/get-by-name?experiment_name="+url.QueryEscape(c.settings.Experiment), nil, &found)
		var r *refusal
		switch {
		case err == nil && found.Experiment.Stage == "deleted":
			return "", fmt.Errorf("the MLflow experiment %q is deleted: restore it, or choose another with MLFLOW_EXPERIMENT_NAME", c.settings.Experiment)
		case err == nil:
			return found.Experiment.ID, nil
		case !errors.As(err, &r) || r.code != "RESOURCE_DOES_NOT_EXIST":
			return "", err
		}
		var made struct {
			ID string `json:"experiment_id"`
		}
		// The tag makes its page open on traces.
		err = c.call(ctx, http.MethodPost, "/api/2.0/mlflow/experiments/create", struct {
			Name string `json:"name"`
			Tags []pair `json:"tags"`
		}{c.settings.Experiment, []pair{{"mlflow.experimentKind", "genai_development"}}}, &made)
		if err == nil {
			return made.ID, nil
		}
		if !errors.As(err, &r) || r.code != "RESOURCE_ALREADY_EXISTS" {
			return "", err
		}
	}
	return "", fmt.Errorf("the MLflow experiment %q can neither be found nor made", c.settings.Experiment)
}
