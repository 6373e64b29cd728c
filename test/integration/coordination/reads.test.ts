/** Firestore bills by document: no tool reads more than it answers and a few, however much there is. */
import assert from 'node:assert/strict';
import { type JsonObject, jsonObject } from '../../../functions/src/domain/json.ts';
import { wireName } from '../../../functions/src/mcp/names.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';
import { answer } from './calls.ts';
import { countReads, type Reads } from './reads.ts';
import { clearStage, setStage } from './stage.ts';
import { Team } from './team.ts';

/** The session, the caller, the counters' parts, a window of the queue. */
const FEW = 25;

describe('the documents read by', () => {
  let reads: Reads;

  before(() => {
    reads = countReads();
  });

  after(async () => {
    reads.stop();
    await clearStage();
  });

  /** What a call reads beyond what it answers, with so many tasks, results and discoveries about. */
  async function beyond(name: string, example: JsonObject, crowd: number): Promise<number> {
    const team = new Team();
    await setStage(team, crowd);
    let answered: JsonObject = {};
    const read = await reads.during(async () => {
      answered = await answer(team, name, example);
    });
    return read - longestList(answered);
  }

  for (const { name: toolset, tools } of toolsets) {
    for (const tool of tools) {
      it(`${toolset}.${tool.name} are few, with 10 tasks and with 200`, async () => {
        const name = wireName(toolset, tool.name, 'prefixed');
        const example = jsonObject.parse(tool.example);
        for (const crowd of [10, 200]) {
          const extra = await beyond(name, example, crowd);
          assert.ok(extra <= FEW, `${extra} with ${crowd}`);
        }
      });
    }
  }

  it('a count are really counted', async () => {
    const team = new Team();
    await setStage(team, 30);
    const read = await reads.during(() => answer(team, 'coordination_get_all_tasks', {}));
    assert.ok(read >= 62, `${read}`);
    assert.ok((await reads.during(() => team.tasks())) >= 62);
    assert.equal(await reads.during(() => team.task('task-xxx-001')), 1);
  });
});

function longestList(answered: JsonObject): number {
  return Math.max(0, ...Object.values(answered).map((value) => (Array.isArray(value) ? value.length : 0)));
}
