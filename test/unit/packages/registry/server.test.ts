/**
 * What the MCP registry would list. `server.schema.json` is the registry's own, as published at
 * https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json
 * (repository modelcontextprotocol/static, commit a9ba437, file schemas/2025-12-11/server.schema.json).
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { z } from 'zod';

const read = (path: string): unknown =>
  JSON.parse(readFileSync(new URL(path, import.meta.url).pathname, 'utf8'));

const schema = z.looseObject({ $id: z.url() }).parse(read('server.schema.json'));

const server = z
  .looseObject({
    $schema: z.string(),
    name: z.string(),
    repository: z.object({ url: z.string(), source: z.literal('github') }).optional(),
    packages: z.never().optional(),
    remotes: z.array(
      z.object({ type: z.string(), url: z.string(), variables: z.record(z.string(), z.unknown()) }),
    ),
  })
  .parse(read('../../../../server.json'));

const { repository } = z
  .looseObject({ repository: z.object({ url: z.string() }).optional() })
  .parse(read('../../../../package.json'));

/** Stands in server.json until whoever publishes writes their own: docs/guides/releasing.md. */
const NOBODY = 'OWNER';

/** The owner of a repository at GitHub, in whose namespace it may be published. */
const ownerOf = (url: string): string =>
  /github\.com[/:]([\w-]+)\//.exec(url)?.[1] ?? assert.fail(`${url} is at GitHub`);

describe('server.json', () => {
  // The schema has keywords of OpenAPI ("example"), which strict mode knows nothing of.
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  const isValid = ajv.compile(schema);

  it('is as the schema of the registry has it', () => {
    assert.ok(isValid(server), ajv.errorsText(isValid.errors));
    assert.equal(server.$schema, schema.$id);
    assert.ok(!isValid({ ...server, name: 'muster' }), 'the schema refuses nothing');
  });

  it('is named after the owner of the repository, or says that nobody has filled it in', () => {
    const owner = repository === undefined ? NOBODY : ownerOf(repository.url);
    assert.equal(server.name, `io.github.${owner}/muster`);
    assert.equal(server.repository && ownerOf(server.repository.url), repository && owner);
  });

  it('leads to the endpoint of a deployment by its host, and asks for nothing else', () => {
    const addresses = server.remotes.map(({ type, url, variables }) => {
      assert.deepEqual(Object.keys(variables), ['host']);
      return [type, url.replace('{host}', 'hub.example')];
    });
    assert.deepEqual(addresses, [['streamable-http', 'https://hub.example/mcp']]);
  });
});
