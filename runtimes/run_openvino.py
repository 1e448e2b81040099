"""Run an ONNX file or a SavedModel in OpenVINO, on the CPU.

By default OpenVINO computes in bfloat16 where the processor has it; `--precision f32`
keeps it from doing so.

  python run_openvino.py [--precision f32] model.onnx OUTPUTS FEEDS.npz...
"""

import openvino
from feeding import feed, parser_for
from openvino import properties


def main() -> None:
    parser = parser_for(__doc__)
    parser.add_argument("--precision", choices=["default", "f32"], default="default")
    arguments = parser.parse_args()
    options = {}
    if arguments.precision == "f32":
        options[properties.hint.inference_precision] = openvino.Type.f32
    compiled = openvino.Core().compile_model(arguments.artifact, "CPU", options)

    def run(feeds):
        results = compiled(feeds)
        return {own_name(port): results[port] for port in compiled.outputs}

    feed(run, arguments.feeds, arguments.outputs)
    used = compiled.get_property(properties.hint.inference_precision)
    version = openvino.__version__.split("-")[0]
    print(f"openvino {version} {used.get_type_name()}")


def own_name(port) -> str:
    """The name in the file; OpenVINO adds those of tensors fused into the output."""
    [name] = [name for name in port.get_names() if ":" not in name]
    return name


if __name__ == "__main__":
    main()
