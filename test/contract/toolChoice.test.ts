/** A search for the words of a person's task finds the right tool by its name and description. */
import assert from 'node:assert/strict';
import { Catalogs } from '../../functions/src/mcp/catalog.ts';
import { SHORT_LISTS } from '../../functions/src/mcp/urlSelection.ts';
import { toolsets } from '../../functions/src/toolsets/index.ts';
import { findSkillsWith } from '../../functions/src/toolsets/system/rules/directory.ts';
import { toolSkill } from '../../functions/src/toolsets/system/tools/agents.ts';
import jobs from './toolChoice.json' with { type: 'json' };

/** Tasks in a person's words, each with its right tool. They were written before the tools' descriptions. */
const tasks = Object.entries(jobs.chosen).map(([tool, task]) => ({ tool, task }));
const REQUIRED = 38;

const STOP_WORDS = new Set(
  'a all an and any as at by can for from has have in into is it its me my of on or so that the their to was what which with you your'.split(
    ' ',
  ),
);

const stem = (word: string): string =>
  word
    .replace(/ies$/, 'y')
    .replace(/(?:ations?|ions?|ings?|ed|(?<=[sxz]|sh|ch)es|s)$/, '')
    .replace(/e$/, '')
    .replace(/([^s])\1$/, '$1');

const stemsOf = (text: string): readonly string[] =>
  (
    text
      .replace(/([a-z])([A-Z])/g, '$1 $2')
      .replace(/to-do/gi, 'todo')
      .toLowerCase()
      .match(/[a-z]+/g) ?? []
  )
    .filter((word) => !STOP_WORDS.has(word))
    .map(stem);

/** Words that a model reads about each tool, with a weight for each word. */
const indexed = toolsets.flatMap((toolset) =>
  toolset.tools.map((tool) => {
    const weights = new Map<string, number>();
    const add = (weight: number, text: string): void => {
      for (const word of stemsOf(text)) weights.set(word, (weights.get(word) ?? 0) + weight);
    };
    add(2, `${toolset.name} ${tool.name}`);
    add(1, tool.title);
    add(1, tool.description.replace(/\b[a-z]+[._][A-Za-z_]+\b/g, '')); // removes the names of other tools
    add(0.5, Object.keys(tool.input.shape).join(' '));
    return {
      name: `${toolset.name}.${tool.name}`,
      weights,
      length: [...weights.values()].reduce((sum, one) => sum + one, 0),
    };
  }),
);

const averageLength = indexed.reduce((sum, { length }) => sum + length, 0) / indexed.length;

/** Returns the name of the tool with the highest BM25 score. Source: Robertson and Zaragoza, 2009, section 3.4. */
function choose(task: string): string | undefined {
  const words = [...new Set(stemsOf(task))];
  const scored = indexed.map(({ name, weights, length }) => {
    const score = words.reduce((sum, word) => {
      const frequency = weights.get(word) ?? 0;
      const documents = indexed.filter((other) => other.weights.has(word)).length;
      const rarity = Math.log(1 + (indexed.length - documents + 0.5) / (documents + 0.5));
      return sum + (rarity * frequency * 2.2) / (frequency + 1.2 * (0.5 + (0.5 * length) / averageLength));
    }, 0);
    return { name, score };
  });
  return scored.sort((one, other) => other.score - one.score)[0]?.name;
}

describe("tool search with a person's words", () => {
  it(`finds the right tool for at least ${REQUIRED} of ${tasks.length} tasks`, () => {
    const wrong = tasks.filter(({ task, tool }) => choose(task) !== tool);
    const shown = wrong.map(({ task, tool }) => `${tool}, not ${choose(task)}: ${task}`).join('\n');
    assert.ok(tasks.length - wrong.length >= REQUIRED, shown);
  });
});

describe('system.listSkills', () => {
  const selection = {
    toolsets: [],
    readonly: false,
    workspace: undefined,
    dialect: 'prefixed',
    listing: 'short',
  } as const;
  const skills = new Catalogs(toolsets).of(selection).directory.tools.map((tool) => toolSkill(tool, '1.0.0'));
  const find = findSkillsWith({ find: async () => ({ skills: [], total: 0 }) });
  const descriptions = new Map(Object.entries({ ...jobs.chosen, ...jobs.unlisted }));

  for (const { name } of skills.filter((skill) => !SHORT_LISTS.short.includes(skill.name)))
    it(`finds ${name}, which /mcp does not list, by a description of the job`, async () => {
      const search = descriptions.get(name);
      assert.ok(search !== undefined, 'toolChoice.json lacks a description of its job');
      const request = { workspace: 'default', search, includeDeprecated: false, limit: 100, offset: 0 };
      const found = (await find(skills, request)).skills.map((skill) => skill.name);
      assert.ok(found.includes(name), `${search}: ${found.join(', ')}`);
    });
});
