//go:build unix

// Command parity is the Go half of parity.py, which compares this package with ONNX Runtime
// on the same weights:
//
//	python -m pip install -r embed/local/parity/requirements.txt
//	python embed/local/parity/parity.py MODEL_FOLDER TEXTS_JSONL [--golden FILE]
//
// It reads one JSON string a line and writes their vectors, little-endian float32. With
// -seconds it measures instead, on one worker: it encodes the texts for that long and prints
// a line of JSON with texts per second of CPU time, which other work on the machine disturbs
// least, and the median time of one text.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/sextant-rag/sextant/bert"
	"github.com/sextant-rag/sextant/embed/local"
)

func main() {
	instructions := flag.String("instructions", "", "instruction set; empty is the fastest")
	seconds := flag.Float64("seconds", 0, "measure for so long instead of writing vectors")
	flag.Parse()
	if err := run(*instructions, *seconds, os.Stdin, os.Stdout); err != nil {
		log.Fatal("parity: ", err)
	}
}

func run(instructions string, seconds float64, in io.Reader, out io.Writer) error {
	texts, err := readTexts(in)
	if err != nil {
		return err
	}
	e, err := local.New(bert.Options{Workers: 1, Instructions: instructions})
	if err != nil {
		return err
	}
	if seconds > 0 {
		return measure(e, texts, seconds, out)
	}
	vectors, err := e.Embed(context.Background(), texts)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	for _, v := range vectors {
		if err := binary.Write(w, binary.LittleEndian, v); err != nil {
			return err
		}
	}
	return w.Flush()
}

func readTexts(in io.Reader) (texts []string, err error) {
	d := json.NewDecoder(in)
	for {
		var text string
		if err := d.Decode(&text); err == io.EOF {
			return texts, nil
		} else if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
}

func measure(e *local.Embedder, texts []string, seconds float64, out io.Writer) error {
	ctx := context.Background()
	if _, err := e.EmbedQuery(ctx, texts[0]); err != nil { // loads
		return err
	}
	var times []time.Duration
	cpu, start := cpuTime(), time.Now()
	for time.Since(start).Seconds() < seconds {
		for _, text := range texts {
			one := time.Now()
			if _, err := e.EmbedQuery(ctx, text); err != nil {
				return err
			}
			times = append(times, time.Since(one))
		}
	}
	perSecond := float64(len(times)) / (cpuTime() - cpu).Seconds()
	slices.Sort(times)
	_, err := fmt.Fprintf(out, "{\"texts_per_cpu_second\": %.2f, \"median_ms\": %.3f}\n", perSecond, times[len(times)/2].Seconds()*1e3)
	return err
}

func cpuTime() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
