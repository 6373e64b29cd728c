/** Common mistakes of people and models. Each error must state what is wrong, where, and what to do. */
import assert from 'node:assert/strict';
import { accessMistakes } from './access.ts';
import { argumentMistakes } from './arguments.ts';
import { dataMistakes } from './data.ts';
import { MistakesFixture } from './fixture.ts';
import { httpMistakes } from './http.ts';
import { missing } from './mistake.ts';
import { nameMistakes } from './names.ts';
import { teamMistakes } from './team.ts';
import { todoMistakes } from './todos.ts';
import { vendorMistakes } from './vendors.ts';

const MISTAKES = [
  ...httpMistakes,
  ...nameMistakes,
  ...argumentMistakes,
  ...todoMistakes,
  ...teamMistakes,
  ...dataMistakes,
  ...vendorMistakes,
  ...accessMistakes,
];

describe('an error explains the mistake of a caller who', () => {
  let fixture: MistakesFixture;

  before(async () => {
    fixture = await MistakesFixture.open();
  });

  it('makes one of the tested mistakes, of which there are at least sixty', () =>
    assert.ok(new Set(MISTAKES.map(({ who }) => who)).size >= 60, `there are only ${MISTAKES.length} mistakes`));

  for (const mistake of MISTAKES)
    it(mistake.who, async () => {
      const reported = await mistake.make(fixture);
      const gaps = missing(mistake, reported);
      assert.equal(gaps.length, 0, `The error does not state ${gaps.join(', nor ')}: ${reported}`);
    });
});
