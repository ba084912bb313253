//go:build unix

package testbed

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

// mlflowPackages are what the facts in trace/mlflow were measured on.
var mlflowPackages = []string{"mlflow[auth]==3.17.2"}

// MLflow starts a tracking server over a database in dir, so that one that is started
// again with the same folder and port goes on where it was. port 0 takes a free one.
func MLflow(t testing.TB, dir string, port int, flags ...string) *Process {
	t.Helper()
	venv := Python(t, "mlflow", mlflowPackages...)
	if port == 0 {
		port = freePort(t)
	}
	args := append([]string{"server", "--host", "127.0.0.1", "--port", fmt.Sprint(port), "--workers", "1", "--backend-store-uri", "sqlite:///" + filepath.Join(dir, "mlflow.db"),
		"--serve-artifacts", "--artifacts-destination", filepath.Join(dir, "artifacts")}, flags...)
	// Its job runner costs 1.4 GB and is not needed; prices from the internet would block
	// the first request.
	env := []string{"MLFLOW_DISABLE_TELEMETRY=true", "DO_NOT_TRACK=true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false", "MLFLOW_MODEL_CATALOG_URI=",
		"MLFLOW_FLASK_SERVER_SECRET_KEY=secret", "MLFLOW_AUTH_ADMIN_PASSWORD=" + MLflowPassword, "PATH=" + filepath.Join(venv, "bin") + ":/usr/bin:/bin"}
	return start(t, fmt.Sprintf("http://127.0.0.1:%d", port), "/health", 3*time.Minute, env, filepath.Join(venv, "bin", "mlflow"), args...)
}

// MLflowUser and MLflowPassword open a server that was started with the flags
// "--app-name", "basic-auth".
const (
	MLflowUser     = "admin"
	MLflowPassword = "a-password-for-tests"
)
