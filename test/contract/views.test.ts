/** Size limit of the views, which load nothing else. Source: docs/decisions/0039-console-and-views.md. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { gzipSync } from 'node:zlib';
import { toolsets } from '../../functions/src/toolsets/index.ts';
import { buildViews } from '../../scripts/setup/build.mjs';

const MAX_BYTES = 20_000;

/** Names of the kinds of elements that Preact creates, which are never requested. */
const NAMESPACES = /http:\/\/www\.w3\.org\/(1999\/xhtml|2000\/svg|1998\/Math\/MathML)/g;

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

  it(`have fewer than ${MAX_BYTES} bytes each after compression`, () => {
    for (const [name, page] of pages()) {
      const bytes = gzipSync(page).length;
      assert.ok(bytes < MAX_BYTES, `${name}: ${bytes}`);
    }
  });

  it('are single files that request nothing from other servers', () => {
    for (const [name, page] of pages()) {
      assert.match(page, /^<!doctype html>\n<html lang="en">/, name);
      assert.equal(page.match(/<script>/g)?.length, 1, name);
      assert.equal(page.match(/<style>/g)?.length, 1, name);
      assert.doesNotMatch(page.replaceAll(NAMESPACES, ''), /https?:\/\/|\bsrc=|\bhref=|@import|url\(|@font-face/, name);
    }
  });

  it('never interpret a text as markup or as code', () => {
    for (const [name, page] of pages()) {
      assert.match(page, /; require-trusted-types-for 'script'; trusted-types 'none'">/, name);
      // Preact itself has four of these words, for a property that no component sets. The policy above would refuse it.
      assert.equal(page.match(/innerHTML/gi)?.length, 4, name);
      assert.doesNotMatch(
        page,
        /outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|fetch\(|XMLHttpRequest|WebSocket|localStorage|indexedDB|document\.cookie/,
        name,
      );
    }
  });

  it('have the icons and rules that they use, and no others', () => {
    for (const [name, page] of pages()) {
      assert.ok(
        ['is-done', 'M1.95 8a6.05', '.state.done{', '.pill.progress{'].every((part) => page.includes(part)),
        name,
      );
      assert.doesNotMatch(page, /"is-board"|trophy|\.toast|\.palette|\.menu/, name);
    }
  });
});
