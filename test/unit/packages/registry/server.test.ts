/**
 * The entry for the MCP registry. `server.schema.json` is the registry's schema, published at
 * https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json
 * (repository modelcontextprotocol/static, commit a9ba437, file schemas/2025-12-11/server.schema.json).
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { z } from 'zod';

const read = (path: string): unknown => JSON.parse(readFileSync(new URL(path, import.meta.url).pathname, 'utf8'));
const schema = z.looseObject({ $id: z.url() }).parse(read('server.schema.json'));

const server = z
  .looseObject({
    $schema: z.string(),
    name: z.string(),
    repository: z.object({ url: z.string(), source: z.literal('github') }).optional(),
    packages: z.never().optional(),
    remotes: z.array(z.object({ type: z.string(), url: z.string(), variables: z.record(z.string(), z.unknown()) })),
  })
  .parse(read('../../../../server.json'));

const { repository } = z
  .looseObject({ repository: z.object({ url: z.string() }).optional() })
  .parse(read('../../../../package.json'));

/** Placeholder for the owner in server.json. The publisher replaces it. Source: docs/guides/releasing.md. */
const NOBODY = 'OWNER';

/** Returns the owner of a GitHub repository. The registry entry must be in the namespace of this owner. */
const ownerOf = (url: string): string =>
  /github\.com[/:]([\w-]+)\//.exec(url)?.[1] ?? assert.fail(`${url} is not a GitHub address`);

describe('registry entry server.json', () => {
  // The registry's schema contains the keyword "example" of OpenAPI, which the strict mode of Ajv rejects.
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  const isValid = ajv.compile(schema);

  it('matches the schema of the registry', () => {
    assert.ok(isValid(server), ajv.errorsText(isValid.errors));
    assert.equal(server.$schema, schema.$id);
    assert.ok(!isValid({ ...server, name: 'muster' }), 'the schema accepts an invalid name');
  });

  it("has the name of the repository's owner, or the placeholder if no repository is set", () => {
    const owner = repository === undefined ? NOBODY : ownerOf(repository.url);
    assert.equal(server.name, `io.github.${owner}/muster`);
    assert.equal(server.repository && ownerOf(server.repository.url), repository && owner);
  });

  it("builds the endpoint's URL from the host of a deployment, and requires no other variable", () => {
    const addresses = server.remotes.map(({ type, url, variables }) => {
      assert.deepEqual(Object.keys(variables), ['host']);
      return [type, url.replace('{host}', 'hub.example')];
    });
    assert.deepEqual(addresses, [['streamable-http', 'https://hub.example/mcp']]);
  });
});
