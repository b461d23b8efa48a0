// Makes the files of pages from their sources with esbuild, and compresses them. Reads from its standard input
// {directory, check, files: {name: [path of a source]}}. Writes the files into the directory, or with check only prints the
// names of those that differ from what it would write.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { build } from "esbuild";

const { directory, check, files } = JSON.parse(readFileSync(0, "utf8"));

const COMPRESSIONS = [
  [".gz", (bytes) => gzipSync(bytes, { level: 9 }), gunzipSync],
  [".br", brotliCompressSync, brotliDecompressSync],
];

// A library that is minified already, and sets a global variable.
const LIBRARY = /\.min\.js$/;

async function bundled(path) {
  if (LIBRARY.test(path)) return readFileSync(path, "utf8");
  const { outputFiles } = await build({
    entryPoints: [path],
    bundle: true,
    minify: true,
    format: "esm",
    external: ["*.svg"],
    legalComments: "none",
    logLevel: "warning",
    write: false,
  });
  return outputFiles[0].text;
}

// The text of a file. A script is a module, so what a library defines is no global variable by itself.
async function made(name, sources) {
  const texts = await Promise.all(sources.map(bundled));
  if (extname(name) === ".js" && texts[0].startsWith("var htmx="))
    texts.splice(1, 0, "globalThis.htmx=htmx;");
  return texts.map((text) => `${text.trim()}\n`).join("");
}

const stale = [];
for (const [name, sources] of Object.entries(files)) {
  const bytes = Buffer.from(await made(name, sources));
  const path = join(directory, name);
  if (check) {
    const same = (file, unpacked) => existsSync(file) && bytes.equals(unpacked(readFileSync(file)));
    if (!same(path, (content) => content)) stale.push(name);
    for (const [ending, , decompress] of COMPRESSIONS)
      if (!same(path + ending, decompress)) stale.push(name + ending);
  } else {
    writeFileSync(path, bytes);
    for (const [ending, compress] of COMPRESSIONS) writeFileSync(path + ending, compress(bytes));
  }
}
if (check) process.stdout.write(JSON.stringify(stale));
