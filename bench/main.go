// Command bench asks Sextant's search parts and other engines the same questions on the
// same data in one process, taking turns, and prints how much faster or slower each was:
//
//	go run -C bench . [-md] [-vectors N] [-dim N] [-texts N] [-narratives DIR] [-only REGEXP]
//
// It is a module of its own, so that the peers it measures never become dependencies of
// the product. What the figures mean is written in docs/benchmarks.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"time"
)

// options are the sizes of a run. The defaults take two to five minutes on two cores.
type options struct {
	vectors    int            // rows of the vector comparisons
	dim        int            // dimensions of a vector
	texts      int            // texts to make up where there are no narratives; of narratives the most chunks, 0 is all
	narratives string         // folder of *.jsonl.gz; "" is that of the shared data, if there is one
	rounds     int            // turns of every engine in a comparison
	limit      time.Duration  // after which a comparison starts no further round
	only       *regexp.Regexp // on "comparison/engine"; nil is all
	markdown   bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := bench(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.As(err, new(*usageError)):
		os.Exit(2) // the flag set has said why
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// usageError is a command line that could not be understood.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// bench runs a command line: the table goes to out, what is being done to log.
func bench(ctx context.Context, args []string, out, log io.Writer) error {
	o, err := parse(args, log)
	if err != nil {
		return err
	}
	results, err := run(ctx, o, log)
	if err != nil {
		return err
	}
	return report(out, o.markdown, results)
}

func parse(args []string, log io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(log)
	flags.IntVar(&o.vectors, "vectors", 100_000, "`number` of vectors, at least 1,000")
	flags.IntVar(&o.dim, "dim", 384, "dimensions of a vector, at least 2")
	flags.IntVar(&o.texts, "texts", 0, "most chunks of text; 0 is all narratives, or 50,000 made up where there are none")
	flags.StringVar(&o.narratives, "narratives", "", "`folder` of NTSB narratives (*.jsonl.gz); default: $SEXTANT_SHARED/data/ntsb-narratives or that of ../shared")
	flags.IntVar(&o.rounds, "rounds", 20, "turns each engine gets in a comparison")
	flags.DurationVar(&o.limit, "time", 40*time.Second, "after which a comparison starts no further round")
	flags.Func("only", "comparisons and engines to run: a `regexp` on names like vectors/chromem-go, filtered/vector, text/bleve", func(s string) (err error) {
		o.only, err = regexp.Compile(s)
		return err
	})
	flags.BoolVar(&o.markdown, "md", false, "print Markdown")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return o, err
		}
		return o, &usageError{err}
	}
	if o.vectors < 1000 || o.dim < 2 || o.texts < 0 || o.rounds < 1 || flags.NArg() > 0 {
		flags.Usage()
		return o, &usageError{fmt.Errorf("bench %q: a size is too small, or an argument is none of the flags", args)}
	}
	return o, nil
}

// run makes the data, builds the engines and compares them. All files are in a
// temporary folder that is gone afterwards.
func run(ctx context.Context, o options, log io.Writer) ([]result, error) {
	dir, err := os.MkdirTemp("", "sextant-bench-*")
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	defer os.RemoveAll(dir)
	vectors, err := runVectors(ctx, o, filepath.Join(dir, "vectors"), log)
	if err != nil {
		return nil, err
	}
	texts, err := runTexts(ctx, o, filepath.Join(dir, "texts"), log)
	if err != nil {
		return nil, err
	}
	return append(vectors, texts...), nil
}
