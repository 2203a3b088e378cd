// Compiles archives of Python modules by the browser's own Python: node compile.mjs ENGINE PROGRAM, tasks as JSON lines
// on the standard input, each [source, target, prefix]; prints each target when it is there.
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, program] = process.argv.slice(2);
const engine = resolve(folder) + "/";
const { loadPyodide } = await import(pathToFileURL(join(engine, "pyodide.mjs")));
process.on("uncaughtException", (error) => { console.error(String(error.message ?? error).slice(-1500)); process.exit(1); });
const python = await loadPyodide({ indexURL: engine, lockFileURL: join(engine, "pyodide-lock.json"), packages: [] });
python.runPython(readFileSync(program, "utf-8"));
const packed = python.globals.get("packed");
for (const line of readFileSync(0, "utf-8").split("\n").filter(Boolean)) {
  const [source, target, prefix] = JSON.parse(line);
  const made = packed(new Uint8Array(readFileSync(source)), prefix);
  writeFileSync(target, made.toJs());
  made.destroy();
  console.log(target);
}
