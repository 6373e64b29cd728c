/** Every tool's example is run, and its answer is what the tool says that it answers. */
import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { byteLength, jsonObject, MAX_SHOWN_BYTES } from '../../../functions/src/kernel/json.ts';
import { outputJsonSchema } from '../../../functions/src/mcp/jsonSchema.ts';
import { wireName } from '../../../functions/src/mcp/names.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';
import { seededGitHub } from '../../support/github/seeded.ts';
import { LocalModels } from '../../support/models/server.ts';
import { callerOfExample } from '../access/examples.ts';
import { withModels } from '../orchestration/examples.ts';
import { call } from './calls.ts';
import { clearStage, setStage } from './stage.ts';
import { Team } from './team.ts';

const schemas = new Ajv2020({ strict: false, formats: { 'date-time': true, uri: true } });

describe('the example of', () => {
  const gitHub = seededGitHub();
  const models = new LocalModels();
  before(() => models.start());
  after(async () => {
    await clearStage();
    await models.stop();
  });

  for (const { name: toolset, tools } of toolsets) {
    for (const tool of tools) {
      it(`${toolset}.${tool.name} succeeds, and its answer is as listed`, async () => {
        const team: Team = new Team({ gitHub, ...withModels(models, () => team.app) });
        const name = wireName(toolset, tool.name, 'prefixed');
        await setStage(team);
        const { structuredContent, content, isError } = await call(
          team,
          name,
          jsonObject.parse(tool.example),
          callerOfExample(team, tool.name),
        );
        assert.equal(isError, undefined, JSON.stringify(structuredContent));
        assert.ok(byteLength(structuredContent) <= MAX_SHOWN_BYTES, 'a model is not shown all of it');
        if ('success' in structuredContent) assert.equal(structuredContent['success'], true);
        const isAsListed = schemas.compile(outputJsonSchema(tool.output));
        assert.ok(isAsListed(structuredContent), JSON.stringify(isAsListed.errors));
        assert.deepEqual(JSON.parse(content[0].text), JSON.parse(JSON.stringify(structuredContent)));
      });
    }
  }
});
