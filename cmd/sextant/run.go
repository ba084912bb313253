package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/httpapi"
)

// commandLine is the grammar of the command line.
type commandLine struct {
	Data   string `help:"Data folder. Default: SEXTANT_DATA, else the user's own." placeholder:"DIR" type:"path"`
	Config string `help:"Configuration, a YAML file. Default: SEXTANT_CONFIG, else none." placeholder:"FILE" type:"path"`

	Demo        demoCommand        `cmd:"" help:"Take the bundled sample in, answer three questions, serve the page."`
	Ingest      ingestCommand      `cmd:"" help:"Take documents in."`
	Ask         askCommand         `cmd:"" help:"Answer a question, with proof."`
	Search      searchCommand      `cmd:"" help:"Find passages, without an answer."`
	Collections collectionsCommand `cmd:"" help:"List what is held."`
	Describe    describeCommand    `cmd:"" help:"Show what can be asked of a collection."`
	Serve       serveCommand       `cmd:"" help:"Serve the page and the HTTP API."`
	Eval        evalCommand        `cmd:"" help:"Measure the engine on questions with known answers."`
	Runs        runsCommand        `cmd:"" help:"List what was taken in and deleted, and what became of every record."`
	Delete      deleteCommand      `cmd:"" help:"Delete documents, a source, what a run added, or a collection."`
	Reembed     reembedCommand     `cmd:"" help:"Make the vectors of a collection anew with the encoder that is set."`
	Rechunk     rechunkCommand     `cmd:"" help:"Cut the documents of a collection into chunks of another size."`
	Tune        tuneCommand        `cmd:"" help:"Learn from pairs how the questions of a collection lie to its documents."`
	Verify      verifyCommand      `cmd:"" help:"Check that everything is stored as it was taken in."`
	Doctor      doctorCommand      `cmd:"" help:"Look for damage and trouble, and say or do what helps."`
	Backup      backupCommand      `cmd:"" help:"Copy everything held into one file, also while it is served."`
	Migrate     migrateCommand     `cmd:"" help:"Carry everything held into another store, and compare."`
	Export      exportCommand      `cmd:"" help:"Write everything held to a file of JSON lines."`
	Restore     restoreCommand     `cmd:"" help:"Put a backup into the data folder."`
	Trace       traceCommand       `cmd:"" help:"Look at the traces of questions, and answer them again."`
	Config_     configCommand      `cmd:"" name:"config" help:"Show the configuration, or restore a trace's."`
	Version     versionCommand     `cmd:"" help:"Print the version."`
}

// jsonFlag is embedded by every verb that can answer with one JSON value.
type jsonFlag struct {
	JSON bool `name:"json" help:"Print one JSON value and nothing else."`
}

func (j jsonFlag) wantsJSON() bool { return j.JSON }

// session is what a verb works with.
type session struct {
	config   config
	dataFrom string // what names the data folder
	env      environment
	terminal *terminal
	json     bool
}

// exit is the error of a verb that has said everything and ends with a code.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// Exit codes besides those of an answer's status (sextant.Status.ExitCode).
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

// run runs one command and returns its exit code. It reads nothing but its arguments,
// the environment it is given, and files they name.
func run(ctx context.Context, args, environ []string, out, err io.Writer) int {
	env := newEnvironment(environ)
	s := &session{env: env, terminal: newTerminal(out, err, env)}
	var line commandLine
	// kong ends the process after printing help; here it ends the parse.
	helped := false
	parser, bad := kong.New(&line,
		kong.Name("sextant"),
		kong.Description("Answers questions about documents, and proves the answers: exact counts over everything held, quotes that can be followed, and a proof of absence where there is nothing."),
		kong.Writers(out, err),
		kong.Exit(func(int) { helped = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: defaultWidth}),
	)
	if bad != nil {
		return s.fail(fmt.Errorf("command line: %w", bad))
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, bad := parser.Parse(args)
	switch {
	case helped:
		return exitOK
	case bad != nil:
		return s.fail(parseError(bad))
	}
	if j, ok := parsed.Selected().Target.Addr().Interface().(interface{ wantsJSON() bool }); ok {
		s.json = j.wantsJSON()
	}
	if s.config, bad = loadConfig(line.Config, env); bad != nil {
		return s.fail(bad)
	}
	s.dataFrom = dataFrom(line.Data, env, s.config.Data)
	if s.config.Data = cmp.Or(line.Data, s.config.Data); s.config.Data == "" {
		if s.config.Data, bad = dataFolder(env); bad != nil {
			return s.fail(bad)
		}
	}
	parsed.BindTo(ctx, (*context.Context)(nil))
	return s.fail(parsed.Run(s))
}

// dataFrom says what names the data folder.
func dataFrom(flag string, env environment, configured string) string {
	switch {
	case flag != "":
		return "--data"
	case env["SEXTANT_DATA"] != "":
		return "SEXTANT_DATA"
	case configured != "":
		return "configuration"
	}
	return "default"
}

// parseError is what kong found wrong with a command line, with where to read on.
func parseError(err error) error {
	command := "sextant"
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil && parse.Context.Selected() != nil {
		command = strings.TrimSpace(parse.Context.Selected().FullPath())
	}
	return &sextant.Error{Code: sextant.CodeBadRequest, Op: "command line", Message: sentence(err.Error()), Hint: "See `" + command + " --help`."}
}

// sentence makes one of a library's message.
func sentence(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + strings.TrimRight(s[n:], ".") + "."
}

// fail tells what went wrong, on out as JSON where JSON was asked for and on err for
// people, and returns the exit code. No error is success.
func (s *session) fail(err error) int {
	var done exit
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &done):
		return int(done)
	}
	message, hint := explain(err)
	s.terminal.say("sextant: %s", message)
	if hint != "" {
		s.terminal.say("  %s", hint)
	}
	code := sextant.ErrorCode(err)
	if s.json {
		if data, err := httpapi.JSON(failure{failureDetail{code, message, hint}}); err == nil {
			fmt.Fprintf(s.terminal.out, "%s\n", data)
		}
	}
	switch code {
	case sextant.CodeBadRequest, sextant.CodeTooLarge:
		return exitUsage
	case sextant.CodeUnavailable:
		return sextant.SourceUnavailable.ExitCode()
	}
	return exitFailure
}

// failure is what a command that was to print JSON prints when it cannot.
type failure struct {
	Error failureDetail `json:"error"`
}

type failureDetail struct {
	Code   sextant.Code `json:"code"`
	Detail string       `json:"detail"`
	Hint   string       `json:"hint,omitempty"`
}

// explain returns what the person at the terminal should read. They own the machine, so
// unlike a client of the API they are told the cause too.
func explain(err error) (message, hint string) {
	var known *sextant.Error
	if !errors.As(err, &known) {
		return err.Error(), ""
	}
	if known.Err != nil && known.Code != sextant.CodeBadRequest {
		return known.Message + " (" + known.Err.Error() + ")", known.Hint
	}
	return known.Message, known.Hint
}

// print shows a result: its JSON if that was asked for, the page otherwise.
func (s *session) print(r interface{ JSON() ([]byte, error) }, lay func(*page)) error {
	if !s.json {
		p := s.terminal.page()
		lay(p)
		return s.terminal.show(p)
	}
	data, err := r.JSON()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(s.terminal.out, "%s\n", data); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}
