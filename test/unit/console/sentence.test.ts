/** Sentences of the audit log. */
import assert from 'node:assert/strict';
import { type AuditChange, type AuditEvent, sentenceOf } from '../../../console/src/screens/audit/sentence.ts';
import { audit } from '../../../console/text/audit.ts';
import { entries } from '../../contract/catalog.ts';

const writing = entries.filter(({ tool }) => !tool.annotations.readOnlyHint);
const event = (tool: string, ...changes: readonly AuditChange[]): AuditEvent => ({ by: 'ada', tool, changes });
const task: AuditChange = { kind: 'task', id: 't', before: { status: 'available' }, after: { status: 'claimed' } };

describe('sentence of an audit event', () => {
  for (const { toolset, tool } of writing)
    it(`exists for ${toolset}.${tool.name}`, () => assert.ok(`${toolset}.${tool.name}` in audit.sentences));

  it('belongs to a tool that exists, or to a write in the database', () => {
    const names = new Set(['firebase.write', ...writing.map(({ toolset, tool }) => `${toolset}.${tool.name}`)]);
    const unknown = Object.keys(audit.sentences).filter((key) => !names.has(key.split(' ')[0] ?? ''));
    assert.deepEqual(unknown, []);
  });

  it('names who acted, and the item with its title', () => {
    const { text, parts } = sentenceOf(event('coordination.cancel_task', { ...task, after: { title: 'Ship\nnow' } }));
    assert.equal(text, '{who} cancelled {task}');
    assert.deepEqual(parts, { who: { kind: 'who', id: 'ada' }, task: { kind: 'task', id: 't', title: 'Ship' } });
  });

  it('counts the tasks that one call created', () => {
    const created = (id: string): AuditChange => ({ kind: 'task', id, after: { status: 'available' } });
    assert.equal(sentenceOf(event('coordination.create_tasks_batch', created('a'))).text, '{who} created {task}');
    const many = sentenceOf(event('coordination.create_tasks_batch', created('a'), created('b')));
    assert.equal(many.text, '{who} created 2 tasks');
  });

  it('needs no value that the reader may not see', () => {
    const asked: AuditChange = { kind: 'request', id: 'r', after: { question: 'Which?' } };
    assert.equal(sentenceOf(event('inbox.ask', asked, task)).text, '{who} asked “{question}”');
    assert.equal(sentenceOf(event('inbox.ask', task)).text, '{who} asked a question about {task}');
  });

  it('states the verdict on a result, and names the task instead of its review', () => {
    const passed = { step: 'review', by: 'w', at: 'now' };
    const proof = (round: number, ...steps: readonly object[]) => ({ round, step: 'review', passed: steps });
    const proved = (before: object, after: object): AuditChange => ({
      kind: 'task',
      id: 'proved',
      before: { ...before },
      after: { ...after },
    });
    const review: AuditChange = { kind: 'task', id: 'review', before: {}, after: { status: 'done' } };
    const [first, second] = [proof(1), proof(2)];
    const completed = 'coordination.complete_task';
    for (const [tool, change, expected] of [
      [completed, proved({ proof: null }, { proof: first, status: 'waiting' }), '{who} handed in {task}'],
      [completed, proved({ proof: null }, { proof: second }), '{who} handed in {task} (round {round})'],
      [completed, proved({ proof: first }, { proof: null, proven: [passed] }), '{who} approved {task}'],
      ['coding.end_task', proved({ proof: first }, { proof: proof(1, passed) }), '{who} approved {task}'],
      [
        completed,
        proved({ proof: first }, { sent_back: [{ comments: 'Why?' }] }),
        '{who} sent {task} back: “{comments}”',
      ],
      ['coordination.update_task', proved({}, { proven: [{ step: 'waived' }] }), '{who} waived the proof of {task}'],
      ['inbox.answer', proved({ proof: first }, { proof: null, status: 'failed' }), '{who} gave up {task}'],
      ['coordination.cancel_task', proved({ proof: first }, { status: 'cancelled' }), '{who} cancelled {task}'],
    ] as const) {
      const { text, parts } = sentenceOf(event(tool, review, change));
      assert.equal(text, expected);
      const named = tool === 'coordination.cancel_task' ? 'review' : 'proved';
      assert.deepEqual(parts['task'], { kind: 'task', id: named });
    }
    const undone = event('system.undo', proved({ proof: null }, { proof: first }));
    assert.equal(sentenceOf(undone).text, '{who} undid a change of {item}');
  });

  it('names the changed fields in words if no other sentence fits', () => {
    const { text, parts } = sentenceOf(event('coordination.unknown', task));
    assert.equal(text, '{who} changed {item}: {fields}');
    assert.deepEqual(parts['fields'], { kind: 'text', text: 'state' });
    assert.equal(sentenceOf(event('coordination.unknown')).text, '{who} used {tool}');
  });
});
