import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { type Node, type ObjectExpression, parse } from 'acorn';
import { simple } from 'acorn-walk';
import texts from '../../../functions/src/toolsets/github/rules/errors.json' with { type: 'json' };

const TEXTS: Readonly<Record<string, Readonly<Record<string, { message: string; suggestion?: string }>>>> = texts;

/** Names of the values that the spread object `...at` provides. */
const REPOSITORY = ['owner', 'repo'];

/** Returns the calls of `refusal` in a file that give no value for a placeholder of the error text. */
function complaintsAbout(file: string): { readonly calls: number; readonly complaints: readonly string[] } {
  const source = stripTypeScriptTypes(readFileSync(file, 'utf8'));
  const program = parse(source, { ecmaVersion: 'latest', sourceType: 'module' });
  const objects = new Map<string, ObjectExpression>();
  simple(program, {
    VariableDeclarator({ id, init }) {
      if (id.type === 'Identifier' && init?.type === 'ObjectExpression') objects.set(id.name, init);
    },
  });
  const namesOf = (node: Node | undefined): readonly string[] => {
    if (node === undefined) return [];
    const text = source.slice(node.start, node.end);
    if (text === 'at') return REPOSITORY;
    const object = objects.get(text) ?? (node as ObjectExpression);
    return (object.properties ?? []).flatMap((property) => {
      if (property.type === 'SpreadElement') return namesOf(property.argument);
      return property.key.type === 'Identifier' ? [property.key.name] : [];
    });
  };
  const complaints: string[] = [];
  let calls = 0;
  simple(program, {
    CallExpression({ callee, arguments: [code, name, output] }) {
      if (callee.type !== 'Identifier' || callee.name !== 'refusal') return;
      if (code?.type !== 'Literal' || name?.type !== 'Literal') return;
      calls += 1;
      const text = TEXTS[String(code.value)]?.[String(name.value)];
      const named = `${text?.message} ${text?.suggestion}`.matchAll(/\{(\w+)\}/g);
      for (const [, word = ''] of named)
        if (!namesOf(output).includes(word)) complaints.push(`${file}: ${name.value} lacks ${word}`);
    },
  });
  return { calls, complaints };
}

describe('error texts about GitHub', () => {
  it('receive a value for each of their placeholders', () => {
    const files = globSync('functions/src/{toolsets/github,vendors/octokit}/**/*.ts');
    const read = files.map(complaintsAbout);
    const found = read.flatMap(({ complaints }) => complaints);
    assert.deepEqual(found, []);
    assert.ok(read.reduce((sum, { calls }) => sum + calls, 0) > 50);
  });
});
