"""all-MiniLM-L6-v2 on ONNX Runtime: the graph is written here from the published weights,
in the fused operators that ONNX Runtime's own optimizer arrives at for BERT."""

import json
import pathlib
import struct

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from tokenizers import Tokenizer

DTYPES = {"F32": np.float32, "F16": np.float16, "I64": np.int64}


def load_safetensors(path):
    data = pathlib.Path(path).read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    out = {}
    for name, t in header.items():
        begin, end = (8 + length + o for o in t["data_offsets"])
        out[name] = np.frombuffer(data[begin:end], DTYPES[t["dtype"]]).reshape(t["shape"])
    return out


def build(folder, path, batched=False):
    """Writes the fp32 graph: ids [1, n] to one vector [1, hidden], mean pooled, of length 1.
    Batched, it takes ids [b, n] with a mask of the same shape, 0 where a text is padded."""
    w = load_safetensors(folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    heads, eps = config["num_attention_heads"], config["layer_norm_eps"]
    nodes, weights = [], []

    def const(name, array):
        weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def op(kind, inputs, out, domain="", **attributes):
        nodes.append(helper.make_node(kind, inputs, [out], name=out, domain=domain, **attributes))
        return out

    ms = "com.microsoft"
    word = op("Gather", [const("word", w["embeddings.word_embeddings.weight"]), "ids"], "words")
    start = w["embeddings.position_embeddings.weight"] + w["embeddings.token_type_embeddings.weight"][0]
    shape = op("Shape", ["ids"], "shape")
    length = op("Slice", [shape, const("one", np.array([1])), const("two", np.array([2]))], "length")
    position = op("Slice", [const("start", start), const("zero", np.array([0])), length, const("axis0", np.array([0]))], "position")
    x = op("Add", [word, position], "embedded")
    masked = ["mask"] if batched else []
    norm = [const("norm.g", w["embeddings.LayerNorm.weight"]), const("norm.b", w["embeddings.LayerNorm.bias"])]
    x = op("LayerNormalization", [x, *norm], "x", axis=-1, epsilon=eps)
    for i in range(config["num_hidden_layers"]):
        p = f"encoder.layer.{i}."

        def weight(name):
            return w[p + name + ".weight"].T

        qkv = ["attention.self." + part for part in ("query", "key", "value")]
        attended = op(
            "Attention",
            [x, const(p + "qkv", np.concatenate([weight(n) for n in qkv], 1)), const(p + "qkv.b", np.concatenate([w[p + n + ".bias"] for n in qkv])), *masked],
            p + "attention", ms, num_heads=heads,
        )
        for name, inner in (("attention.output", attended), ("output", None)):
            if inner is None:
                up = op("MatMul", [x, const(p + "up", weight("intermediate.dense"))], p + "up.out")
                inner = op("BiasGelu", [up, const(p + "up.b", w[p + "intermediate.dense.bias"])], p + "gelu", ms)
            down = op("MatMul", [inner, const(p + name, weight(name + ".dense"))], p + name + ".out")
            norm = [const(p + name + v, w[p + name + ".LayerNorm" + v]) for v in (".weight", ".bias")]
            x = op("SkipLayerNormalization", [down, x, *norm, const(p + name + ".b", w[p + name + ".dense.bias"])], p + name + ".norm", ms, epsilon=eps)
    tokens = const("tokens", np.array([1]))
    if batched:
        seen = op("Unsqueeze", [op("Cast", ["mask"], "seen", to=TensorProto.FLOAT), const("axis2", np.array([2]))], "seen3")
        total = op("ReduceSum", [op("Mul", [x, seen], "kept"), tokens], "total", keepdims=0)
        mean = op("Div", [total, op("ReduceSum", [seen, tokens], "count", keepdims=0)], "mean")
    else:
        mean = op("ReduceMean", [x, tokens], "mean", keepdims=0)
    op("LpNormalization", [mean], "vector", axis=-1, p=2)
    graph = helper.make_graph(
        nodes, "minilm",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["b" if batched else 1, "n"])]
        + [helper.make_tensor_value_info(m, TensorProto.INT32, ["b", "n"]) for m in masked],
        [helper.make_tensor_value_info("vector", TensorProto.FLOAT, ["b" if batched else 1, config["hidden_size"]])],
        weights,
    )
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(ms, 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), path)


def quantize(path, out):
    """ONNX Runtime's own dynamic 8-bit quantisation of the same graph."""
    quantize_dynamic(
        path, out, per_channel=True, weight_type=QuantType.QInt8, op_types_to_quantize=["MatMul", "Attention"],
        extra_options={"DefaultTensorType": TensorProto.FLOAT},
    )


def tokenizer(folder, max_tokens=256):
    t = Tokenizer.from_file(str(folder / "tokenizer.json"))
    t.no_padding()
    t.enable_truncation(max_tokens)
    t.encode_special_tokens = True  # a text cannot spell a control token
    return t


class Reference:
    """One session on one thread."""

    def __init__(self, path):
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self.session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def embed(self, ids):
        return self.session.run(None, {"ids": np.array([ids], np.int64)})[0][0]
