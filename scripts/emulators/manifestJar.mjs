// @ts-check
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { crc32 } from './crc32.mjs';

const entryName = 'META-INF/MANIFEST.MF';

/** A manifest line has at most 72 bytes with its line end. A longer line continues on the next line after a space. */
const lineBytes = 72 - '\r\n'.length;

/**
 * Writes a jar that contains only a manifest, so that `java -jar` runs a class of another jar.
 * @param {string} path
 * @param {{ mainClass: string, jar: string }} target
 */
export function writeManifestJar(path, { mainClass, jar }) {
  const headers = ['Manifest-Version: 1.0', `Main-Class: ${mainClass}`, `Class-Path: ${pathToFileURL(jar).href}`];
  writeFileSync(path, zipOf(entryName, Buffer.from(`${headers.map(wrapped).join('\r\n')}\r\n`)));
}

/** File URLs are ASCII, so characters count as bytes. @param {string} header */
function wrapped(header) {
  let [rest, lines] = [header, /** @type {string[]} */ ([])];
  while (rest.length > lineBytes) {
    lines.push(rest.slice(0, lineBytes));
    rest = ` ${rest.slice(lineBytes)}`;
  }
  return [...lines, rest].join('\r\n');
}

/** Returns a zip file with one uncompressed entry. @param {string} name @param {Buffer} data */
function zipOf(name, data) {
  const local = Buffer.concat([header(0x04034b50, [20], name, data), Buffer.from(name)]);
  const central = Buffer.concat([
    header(0x02014b50, [20, 20], name, data),
    // Comment, disk, attributes and offset, which are all zero for a single entry.
    Buffer.alloc(14),
    Buffer.from(name),
  ]);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(local.length + data.length, 16);
  return Buffer.concat([local, data, central, end]);
}

/**
 * Returns the fields before the name, which local header and central directory share.
 * @param {number} signature
 * @param {number[]} versions
 * @param {string} name
 * @param {Buffer} data
 */
function header(signature, versions, name, data) {
  const start = Buffer.alloc(4 + 2 * versions.length);
  start.writeUInt32LE(signature, 0);
  versions.forEach((version, index) => {
    start.writeUInt16LE(version, 4 + 2 * index);
  });
  const shared = Buffer.alloc(24);
  shared.writeUInt16LE(0x21, 6); // 1980-01-01, the earliest date in a zip
  shared.writeUInt32LE(crc32(data), 8);
  shared.writeUInt32LE(data.length, 12);
  shared.writeUInt32LE(data.length, 16);
  shared.writeUInt16LE(Buffer.byteLength(name), 20);
  return Buffer.concat([start, shared]);
}
