/** `muster connect` keeps the bytes, the links, the owner and the mode of a client's configuration file. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import fc from 'fast-check';
import { parse } from 'jsonc-parser';
import { getStaticTOMLValue, parseTOML } from 'toml-eslint-parser';
import { JsonText } from '../../../packages/muster/src/connect/json.ts';
import { withTable } from '../../../packages/muster/src/connect/toml.ts';
import { Mistake } from '../../../packages/muster/src/mistake.ts';
import { configFiles, connect } from '../../support/connecting.ts';
import { forAll } from '../../support/properties.ts';

const HUB = 'https://hub.example/mcp';
const STRICT = ['claude', 'copilot', 'windsurf'];
const COMMAS = ['cursor', 'vscode', 'opencode', 'zed'];
const COMMENTS = [...COMMAS, 'gemini'];
const JSONC = { comments: true, trailingCommas: true };

/** Returns whether all characters of the first text occur in the second text in the same order. */
function isKeptIn(before: string, after: string): boolean {
  let at = 0;
  for (const character of after) if (before.startsWith(character, at)) at += character.length;
  return at === before.length;
}

describe("client's configuration file after muster connect", () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(`${tmpdir()}/muster-files-`);
    for (const path of ['.copilot', '.codeium/windsurf']) mkdirSync(`${folder}/${path}`, { recursive: true });
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const at = (path: string) => `${folder}/${path}`;
  const textOf = (path: string) => readFileSync(at(path), 'utf8');
  const put = (path: string, text: string) => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text);
  };
  const hasMuster = (path: string) => assert.match(textOf(path), /muster[\s\S]*hub\.example/);

  describe('that is a symbolic link', () => {
    const cases: Readonly<Record<string, { links: Readonly<Record<string, string>>; target: string }>> = {
      'to a file': { links: { '.mcp.json': 'dot/mcp.json' }, target: 'dot/mcp.json' },
      'to a link to a file': {
        links: { '.mcp.json': 'one/link', 'one/link': '../two/link', 'two/link': '../dot/mcp.json' },
        target: 'dot/mcp.json',
      },
      'to a file in a linked folder': {
        links: { '.mcp.json': 'linked/mcp.json', linked: 'dot' },
        target: 'dot/mcp.json',
      },
      'relative to a linked folder': {
        links: { '.mcp.json': 'linked/here', linked: 'deep/er', 'deep/er/here': '../mcp.json' },
        target: 'deep/mcp.json',
      },
    };
    beforeEach(() => mkdirSync(at('deep/er'), { recursive: true }));

    for (const [name, { links, target }] of Object.entries(cases)) {
      const link = () => {
        for (const [path, to] of Object.entries(links)) {
          mkdirSync(dirname(at(path)), { recursive: true });
          symlinkSync(to, at(path));
        }
      };
      const stays = () => {
        connect('claude', folder, HUB, false);
        for (const path of Object.keys(links)) assert.ok(lstatSync(at(path)).isSymbolicLink(), path);
        assert.ok(lstatSync(at(target)).isFile());
        hasMuster(target);
      };

      it(`remains a link ${name}`, () => {
        put(target, '{"more": 1}');
        link();
        stays();
        assert.match(textOf(target), /"more": 1/);
      });

      it(`remains a link ${name} if its target does not exist`, () => {
        mkdirSync(at('dot'));
        link();
        stays();
      });
    }

    it('may be in a linked folder whose target does not exist', () => {
      symlinkSync('dot/vscode', at('.vscode'));
      connect('vscode', folder, HUB, false);
      assert.ok(lstatSync(at('.vscode')).isSymbolicLink());
      hasMuster('dot/vscode/mcp.json');
    });

    it('is refused if the link refers to itself', () => {
      symlinkSync('.mcp.json', at('.mcp.json'));
      assert.throws(() => connect('claude', folder, HUB, false), Mistake);
      assert.ok(lstatSync(at('.mcp.json')).isSymbolicLink());
    });
  });

  for (const mode of [0o600, 0o640, 0o644, 0o660, 0o755])
    it(`keeps its mode ${mode.toString(8)}`, () => {
      put('.gemini/settings.json', '{}');
      chmodSync(at('.gemini/settings.json'), mode);
      connect('gemini', folder, HUB, true);
      assert.equal(statSync(at('.gemini/settings.json')).mode & 0o7777, mode);
      assert.deepEqual(readdirSync(at('.gemini')), ['settings.json']);
    });

  it('can be read only by its owner if it is new and names the credential variable', () => {
    for (const [name, path] of Object.entries(configFiles)) {
      connect(name, folder, HUB, true);
      assert.equal(statSync(at(path)).mode & 0o777, 0o600, path);
    }
  });

  it('keeps its owner', function () {
    if (process.getuid?.() !== 0) this.skip(); // Only the user root may change the owner of a file.
    put('.mcp.json', '{}');
    chownSync(at('.mcp.json'), 12_345, 23_456);
    connect('claude', folder, HUB, false);
    const { uid, gid } = statSync(at('.mcp.json'));
    assert.deepEqual([uid, gid], [12_345, 23_456]);
  });

  it('is unchanged if it is read-only', () => {
    put('dot/mcp.json', '{}');
    chmodSync(at('dot/mcp.json'), 0o444);
    symlinkSync('dot/mcp.json', at('.mcp.json'));
    assert.throws(() => connect('claude', folder, HUB, false), /read-only\. The file was not changed/);
    assert.equal(textOf('dot/mcp.json'), '{}');
    assert.deepEqual(readdirSync(at('dot')), ['mcp.json']);
  });

  it('causes an error of one line if it cannot be written', () => {
    put('.vscode', 'no folder');
    mkdirSync(at('.mcp.json'));
    const program = new URL('../../../packages/muster/src/main.ts', import.meta.url).pathname;
    for (const name of ['vscode', 'claude']) {
      const args = ['--disable-warning=ExperimentalWarning', program, 'connect', name, '--url', HUB];
      const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
      assert.equal(status, 1);
      assert.match(stderr, /^\S+ cannot be (read|written) \(E\w+\)\. The file was not changed\..*\n$/);
    }
  });

  it('is not written again if it already has the entry of Muster', () => {
    for (const [name, path] of Object.entries(configFiles)) {
      connect(name, folder, HUB, true);
      const before = statSync(at(path));
      connect(name, folder, HUB, true);
      assert.equal(statSync(at(path)).ino, before.ino, name);
    }
  });

  it('is unchanged if it is not UTF-8', () => {
    writeFileSync(at('.mcp.json'), Buffer.from('{"é": 1}', 'latin1'));
    assert.throws(() => connect('claude', folder, HUB, false), /not UTF-8/);
    assert.deepEqual(readFileSync(at('.mcp.json')), Buffer.from('{"é": 1}', 'latin1'));
  });

  describe('is accepted exactly if the client itself accepts it', () => {
    const texts: Readonly<Record<string, { text: string; by: readonly string[] }>> = {
      'that is empty': { text: '', by: Object.keys(configFiles) },
      'that is a line end': { text: '\n', by: Object.keys(configFiles) },
      'with a byte order mark': { text: '\ufeff{"a": 1}\n', by: [...STRICT, ...COMMENTS] },
      'with comments': { text: '{\n  // mine\n  "a": 1 /* too */\n}\n// end', by: COMMENTS },
      'with comments only': { text: '// mine', by: COMMENTS },
      'with a trailing comma': { text: '{"a": [1,],}', by: COMMAS },
      'that is broken': { text: '{"a": ', by: [] },
      'that is a list': { text: '[1, 2]', by: [] },
      'whose servers are a list': {
        text: '{"mcpServers": [], "servers": [], "mcp": [], "context_servers": []}',
        by: [],
      },
    };
    for (const [what, { text, by }] of Object.entries(texts))
      for (const [name, path] of Object.entries(configFiles))
        it(`a file ${what}: ${name} and muster connect ${by.includes(name) ? 'accept' : 'reject'} it`, () => {
          put(path, text);
          const change = () => connect(name, folder, HUB, true);
          if (by.includes(name)) {
            change();
            assert.ok(isKeptIn(text, textOf(path)), textOf(path));
            hasMuster(path);
          } else {
            assert.throws(change, (error) => error instanceof Mistake && error.message.includes(path));
            assert.equal(textOf(path), text);
          }
          assert.equal(existsSync(`${at(path)}.new`), false);
        });
  });
});

describe('JSON text to which an entry is added', () => {
  /** Generates JSON objects with white space and comments between the tokens. */
  const textWith = (trivia: fc.Arbitrary<string>) =>
    fc
      .dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { noNullPrototype: true })
      .filter((value) => !('servers' in value))
      .chain((value) => {
        const tokens = JSON.stringify(value).match(/"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^{}[\]:,"\s]+/g) ?? [];
        return fc
          .array(trivia, { minLength: tokens.length + 1, maxLength: tokens.length + 1 })
          .map((between) => tokens.map((token, index) => between[index] + token).join('') + between.at(-1));
      });

  const jsonc = textWith(fc.constantFrom('', ' ', '\n', '\r\n\t', '\n    ', ' // }, "\n', '/* , */'));
  const plain = { noNullPrototype: true };
  const entry = fc.record({ url: fc.string(), headers: fc.record({ a: fc.string() }, plain) }, plain);

  it('keeps every byte, and contains the added member', () =>
    forAll(jsonc, entry, (before, added) => {
      const text = new JsonText(before, JSONC);
      text.set(['servers', 'muster'], added);
      const after = text.toString();
      assert.ok(isKeptIn(before, after), after);
      const wanted = { ...parse(before), servers: { muster: added } };
      const errors: [] = [];
      assert.deepEqual(parse(after, errors), wanted);
      assert.deepEqual(errors, []);
    }));

  it('keeps every byte outside the member that is replaced', () =>
    forAll(jsonc, entry, entry, (inner, first, second) => {
      const text = new JsonText(`{ "servers": ${inner}\n}`, JSONC);
      text.set(['servers', 'muster'], first);
      const before = text.toString();
      text.set(['servers', 'muster'], second);
      text.set(['servers', 'muster'], first);
      assert.equal(text.toString(), before);
    }));

  it('is unchanged if the member already has the value, with comments between its fields', () => {
    const before = '{"servers": {"muster": { /* mine */ "headers": {}, // too\n"url": "u",}}}';
    const text = new JsonText(before, JSONC);
    text.set(['servers', 'muster'], { url: 'u', headers: {} });
    assert.equal(text.toString(), before);
  });

  it('is valid JSON after the change if it was valid before', () =>
    forAll(textWith(fc.constantFrom('', ' ', '\n', '\n  ')), entry, (before, added) => {
      const text = new JsonText(before, { comments: false, trailingCommas: false });
      text.set(['servers', 'muster'], added);
      text.addTo('inputs', { id: 'token' });
      text.addTo('inputs', { id: 'token' });
      const wanted = { ...JSON.parse(before), servers: { muster: added }, inputs: [{ id: 'token' }] };
      assert.deepEqual(JSON.parse(text.toString()), wanted);
    }));

  const examples: readonly (readonly [string, string, string])[] = [
    ['in one line', '{"servers": {"a": {}}}', '{"servers": {"a": {}, "muster": {"url":"u"}}}'],
    [
      'with the indentation of others',
      '{\n\t"servers": {\n\t\t"a": {} // mine\n\t}\n}\n',
      '{\n\t"servers": {\n\t\t"a": {}, // mine\n\t\t"muster": {\n\t\t\t"url": "u"\n\t\t}\n\t}\n}\n',
    ],
    [
      'with the line ends of others',
      '{\r\n    "servers": {}\r\n}\r\n',
      '{\r\n    "servers": {\r\n        "muster": {\r\n            "url": "u"\r\n        }\r\n    }\r\n}\r\n',
    ],
    [
      'in the last of two objects with the same key',
      '{"servers": {}, "servers": {"a": 1, "a": 2}}',
      '{"servers": {}, "servers": {"a": 1, "a": 2, "muster": {"url":"u"}}}',
    ],
    ['after a trailing comma', '{"servers": {"a": 1,}}', '{"servers": {"a": 1, "muster": {"url":"u"}}}'],
  ];
  for (const [name, before, after] of examples)
    it(`has the added member if it is ${name}`, () => {
      const text = new JsonText(before, JSONC);
      text.set(['servers', 'muster'], { url: 'u' });
      assert.equal(text.toString(), after);
    });
});

describe('TOML text to which a table is added', () => {
  const path = ['mcp_servers', 'muster'];
  const fields = { url: HUB, bearer_token_env_var: 'MUSTER_TOKEN' };
  const table = `[mcp_servers.muster]\nurl = "${HUB}"\nbearer_token_env_var = "MUSTER_TOKEN"`;
  const other = '# mine\nmodel = "x" # too\n\n[mcp_servers.other]\nargs = [\n  "a", # b\n]\n\n[[list]]\na = 1';

  it('keeps every byte, and has the new table at its end', () => {
    for (const [before, gap] of [
      ['', ''],
      [other, '\n\n'],
      [`${other}\n`, '\n'],
      ['# mine', '\n\n'],
    ])
      assert.equal(withTable(before ?? '', path, fields), `${before}${gap}${table}\n`);
  });

  it('has the new table in place of an existing table with the same name', () => {
    for (const old of [
      '[mcp_servers.muster]\ncommand = "x"',
      '[ mcp_servers . "muster" ]\nurl = "x"\nbearer_token_env_var = "Y"',
      '[mcp_servers.muster]',
    ])
      for (const [before, after] of [
        [`${other}\n\n`, '\n\n# next\n[other]\nb = 2\n'],
        ['', ' # about it\n'],
      ])
        assert.equal(withTable(`${before}${old}${after}`, path, fields), `${before}${table}${after}`);
  });

  it('is unchanged if the table already has the fields, in any form and with comments', () => {
    for (const before of [
      `# a\r\n${table.replaceAll('\n', ' # mine\r\n# b\r\n')}\r\n`,
      `[mcp_servers]\nmuster = { url = "${HUB}", bearer_token_env_var = 'MUSTER_TOKEN' } # mine`,
      `mcp_servers.muster.url = "${HUB}"\n mcp_servers.muster.bearer_token_env_var = "MUSTER_TOKEN"`,
    ])
      assert.equal(withTable(before, path, fields), before);
  });

  it('has the line ends of the other lines', () =>
    assert.equal(withTable('a = 1\r\n', path, fields), `a = 1\r\n\r\n${table.replaceAll('\n', '\r\n')}\r\n`));

  it('no longer has the subtables of the table that is replaced', () => {
    const before = '[mcp_servers.muster]\ncommand = "x"\n[mcp_servers.muster.env]\nA = "b"\n# next\n[c]\n';
    assert.equal(withTable(before, path, fields), `${table}\n\n# next\n[c]\n`);
  });

  it('is refused if the table has another form, or if the text is not TOML', () => {
    for (const before of [
      'mcp_servers = { other = { command = "x" } }',
      'mcp_servers.muster.url = "x"',
      '[mcp_servers]\nmuster = { url = "x" }',
      '[mcp_servers]\nmuster.url = "x"',
      'model = ',
      '[a]\n[a]',
    ])
      assert.throws(() => withTable(before, path, fields), Mistake, before);
  });

  it('keeps all other tables', () => {
    const key = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 3 });
    const tables = fc.uniqueArray(fc.record({ key, value: fc.integer() }), { selector: (one) => one.key });
    forAll(tables, fc.nat(9), fc.boolean(), (others, position, hasOwn) => {
      const parts = others.map((one) => `[mcp_servers.x${one.key}] # ${one.key}\nn = ${one.value}\n`);
      if (hasOwn) parts.splice(position, 0, '[mcp_servers.muster]\nurl = "old"\n\n[mcp_servers.muster.a]\n');
      const before = parts.join('\n');
      const after = withTable(before, path, fields);
      const servers = Object.fromEntries(others.map((one) => [`x${one.key}`, { n: one.value }]));
      assert.deepEqual(getStaticTOMLValue(parseTOML(after)), { mcp_servers: { ...servers, muster: fields } });
      if (!hasOwn) assert.ok(after.startsWith(before));
      for (const { key } of others) assert.ok(after.includes(`[mcp_servers.x${key}] # ${key}\n`), after);
    });
  });
});
