"""An ONNX Runtime model for MLServer: the V2 protocol in front of an exported file.

Put `model.onnx` and the two `.json` files of this folder beside this file, and start

    pip install mlserver onnxruntime
    mlserver start THAT_FOLDER
"""

import asyncio
from typing import Any

import onnxruntime
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.errors import InferenceError, InvalidModelURI
from mlserver.types import InferenceRequest, InferenceResponse, MetadataTensor
from mlserver.utils import get_model_uri

DATATYPES = {
    "tensor(int32)": "INT32",
    "tensor(int64)": "INT64",
    "tensor(float)": "FP32",
    "tensor(bool)": "BOOL",
}


class OrtRuntime(MLModel):
    """Serves one ONNX file; inputs and outputs go by the names in the file."""

    async def load(self) -> bool:
        """Opens the file that `parameters.uri` names in the model's settings."""
        uri = await get_model_uri(self._settings)
        try:
            self._session = onnxruntime.InferenceSession(
                uri, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            raise InvalidModelURI(self.name, uri) from error
        self.inputs = [_describe(port) for port in self._session.get_inputs()]
        self.outputs = [_describe(port) for port in self._session.get_outputs()]
        return True

    async def predict(self, payload: InferenceRequest) -> InferenceResponse:
        """Answers with the outputs that the request names, or with all of them."""
        feeds = {
            tensor.name: NumpyCodec.decode_input(tensor) for tensor in payload.inputs
        }
        wanted = [output.name for output in payload.outputs or self.outputs]
        try:
            # Other requests are answered meanwhile: ONNX Runtime lets go of Python.
            results = await asyncio.to_thread(self._session.run, wanted, feeds)
        except Exception as error:
            raise InferenceError(str(error)) from error
        return InferenceResponse(
            model_name=self.name,
            model_version=self.version,
            outputs=[
                NumpyCodec.encode_output(name, result)
                for name, result in zip(wanted, results, strict=True)
            ],
        )


def _describe(port: Any) -> MetadataTensor:
    """A port as the V2 protocol describes it: a free size is -1."""
    shape = [size if isinstance(size, int) else -1 for size in port.shape]
    return MetadataTensor(name=port.name, datatype=DATATYPES[port.type], shape=shape)
