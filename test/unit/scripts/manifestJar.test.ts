import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { crc32 } from 'node:zlib';
import { writeManifestJar } from '../../../scripts/emulators/manifestJar.mjs';

describe('jar file that contains only a manifest', () => {
  const folder = mkdtempSync(`${tmpdir()}/muster-jar-`);
  const jar = `${folder}/launcher.jar`;
  const target = `/opt/${'a long path/'.repeat(12)}emulator.jar`;

  before(() => writeManifestJar(jar, { mainClass: 'com.example.Main', jar: target }));
  after(() => rmSync(folder, { recursive: true }));

  /** Returns the zip file's only entry. Finds it as Java does, through the record at the end of the file. */
  function entry(): { name: string; data: Buffer; checksum: number } {
    const zip = readFileSync(jar);
    const end = zip.length - 22;
    assert.equal(zip.readUInt32LE(end), 0x06054b50);
    const central = zip.readUInt32LE(end + 16);
    assert.equal(zip.readUInt32LE(central), 0x02014b50);
    const local = zip.readUInt32LE(central + 42);
    assert.equal(zip.readUInt32LE(local), 0x04034b50);
    const [size, nameLength] = [zip.readUInt32LE(local + 22), zip.readUInt16LE(local + 26)];
    const start = local + 30 + nameLength;
    const name = zip.toString('utf8', local + 30, start);
    return { name, data: zip.subarray(start, start + size), checksum: zip.readUInt32LE(central + 16) };
  }

  it('has a manifest entry with the right name and checksum', () => {
    const { name, data, checksum } = entry();
    assert.equal(name, 'META-INF/MANIFEST.MF');
    assert.equal(checksum, crc32(data));
  });

  it('wraps the lines of the manifest at 72 bytes without changing its values', () => {
    const manifest = entry().data.toString();
    assert.ok(manifest.split('\r\n').every((line) => line.length <= 70));
    assert.deepEqual(manifest.replaceAll('\r\n ', '').split('\r\n'), [
      'Manifest-Version: 1.0',
      'Main-Class: com.example.Main',
      `Class-Path: file://${encodeURI(target)}`,
      '',
    ]);
  });
});
