"""What is done on each visit of the page, in the words of `drive_page.mjs`."""

VISITS = {
    "desktop": [
        ["size", 1280, 900],
        ["go"],
        ["read"],
        ["screenshot", "desktop.png"],
    ],
    "phone": [
        ["size", 360, 740],
        ["go"],
        ["read"],
        ["screenshot", "phone.png"],
    ],
    "dark": [
        ["size", 1280, 900],
        ["scheme", "dark"],
        ["go"],
        ["read"],
        ["screenshot", "dark.png"],
    ],
    "keyboard": [
        ["go"],
        ["press", "#length", "ArrowLeft", 3],
        ["press", "#width", "ArrowLeft"],
        ["press", "#wavelength", "ArrowLeft", 2],
        ["press", "#position", "Home"],
        ["press", "#position", "ArrowRight", 5],
        ["press", "#feature", "End"],
        ["read"],
    ],
    "shrinking": [
        ["go"],
        ["press", "#position", "End"],
        ["press", "#feature", "End"],
        ["press", "#width", "Home"],
        ["press", "#length", "Home"],
        ["read"],
    ],
    "mouse": [
        ["size", 1280, 900],
        ["go"],
        ["click", "button[data-start='1000000']"],
        ["click", "#heat-map", 60, 3],
        ["read"],
    ],
    "starts": [
        ["go"],
        *(
            step
            for start in (-64, 70_001, 2_147_483_000)
            for step in (["fill", "#start", str(start)], ["read"])
        ),
    ],
    "refused starts": [
        ["go"],
        *(
            step
            for start in ("2147483600", "1.5", "")
            for step in (["fill", "#start", start], ["read"])
        ),
        ["fill", "#start", "3"],
        ["read"],
    ],
    "no catalogue": [["refuse", "**/catalogue.json"], ["go"], ["read"]],
    "no encodings": [["refuse", "**/*.onnx"], ["go"], ["read"]],
    "no runtime": [["refuse", "**/*.wasm"], ["go"], ["read"]],
}
