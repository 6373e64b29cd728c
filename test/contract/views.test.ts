/** Size limit of the views, which load nothing else. Source: docs/decisions/0039-console-and-views.md. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { toolsets } from '../../functions/src/toolsets/index.ts';
import { buildViews } from '../../scripts/setup/build.mjs';

const MAX_BYTES = 20_000;

describe('built views', () => {
  const folder = mkdtempSync(`${tmpdir()}/muster-views-`);
  before(() => buildViews(folder));
  after(() => rmSync(folder, { recursive: true, force: true }));

  const pages = () => readdirSync(folder).map((name) => [name, readFileSync(`${folder}/${name}`, 'utf8')] as const);

  it('are exactly the views to which the tools refer', () => {
    const named = toolsets.flatMap(({ tools }) => tools.flatMap(({ view }) => (view ? [`${view}.html`] : [])));
    assert.equal(named.length, 4);
    assert.deepEqual(readdirSync(folder).sort(), named.sort());
  });

  it(`have fewer than ${MAX_BYTES} bytes each before compression`, () => {
    for (const [name, page] of pages()) {
      const bytes = Buffer.byteLength(page);
      assert.ok(bytes < MAX_BYTES, `${name}: ${bytes}`);
    }
  });

  it('are single files that request nothing from other servers', () => {
    for (const [name, page] of pages()) {
      assert.match(page, /^<!doctype html>\n<html lang="en">/, name);
      assert.equal(page.match(/<script>/g)?.length, 1, name);
      assert.equal(page.match(/<style>/g)?.length, 1, name);
      assert.doesNotMatch(page, /https?:\/\/|\bsrc=|\bhref=|@import|url\(|@font-face/, name);
    }
  });

  it('never interpret a text as markup or as code', () => {
    for (const [name, page] of pages())
      assert.doesNotMatch(
        page,
        /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|fetch\(|XMLHttpRequest|WebSocket|localStorage|indexedDB|document\.cookie/,
        name,
      );
  });
});
