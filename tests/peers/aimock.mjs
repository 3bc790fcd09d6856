// aimock's own command line, ended when the pipe from the parent closes, however the parent ends.
process.stdin.resume().on("end", () => process.exit(0));
await import("./node_modules/@copilotkit/aimock/dist/cli.js");
