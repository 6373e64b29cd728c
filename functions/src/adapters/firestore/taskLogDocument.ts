/** A chunk of a task's log: its lines as text, one part an append, so that appending sends only what is new. */
import { FieldValue } from '@google-cloud/firestore';
import { z } from 'zod';
import type { LogLine, LogType } from '../../domain/coding/log.ts';
import { type ChunkWrite, type LogHead, parseLines } from '../../domain/coding/logBook.ts';
import { type DocumentCodec, documentCodec } from './codec.ts';
import { LATEST_COMMITS } from './timestamp.ts';

const headDocument = z.object({
  chunk: z.number(),
  first_line: z.number(),
  lines: z.number(),
  bytes: z.number(),
  claim_epoch: z.number(),
  sequence: z.number(),
});

const heads: DocumentCodec<LogHead> = documentCodec(headDocument, { claim_epoch: 'epoch' });

export const headFromDocument = heads.fromDocument;

/** What `headFromDocument` and a version read, for a query that fetches no lines. */
export const HEAD_FIELDS = [...Object.keys(headDocument.shape), LATEST_COMMITS];

const PART = /^n(\d+)$/;
const PART_DIGITS = 9;

const linesDocument = z.object({ parts: z.record(z.string().regex(PART), z.string()) });

interface OwningTask {
  readonly id: string;
  readonly workspace: string;
}

/** What `logs` are found by for a day, over all tasks of a workspace. */
export function dayKey(workspace: string, type: LogType, date: string): string {
  return `${workspace}/${type}/${date}`;
}

export function chunkToDocument(task: OwningTask, write: ChunkWrite): Record<string, unknown> {
  return {
    task_id: task.id,
    ...heads.toDocument(write.head),
    latest_at: latestOf(write),
    days: daysOf(task, write),
    parts: { [partKey(write.from)]: write.text },
  };
}

/** What more lines change of a chunk that is there. */
export function linesToFields(task: OwningTask, write: ChunkWrite): Record<string, unknown> {
  return {
    ...heads.toDocument(write.head),
    latest_at: latestOf(write),
    days: FieldValue.arrayUnion(...daysOf(task, write)),
    [`parts.${partKey(write.from)}`]: write.text,
  };
}

/** The lines of a chunk in their order. */
export function linesFromDocument(data: unknown): LogLine[] {
  const { parts } = linesDocument.parse(data);
  return Object.entries(parts)
    .map(([key, text]) => ({ from: Number(PART.exec(key)?.[1]), text }))
    .sort((left, right) => left.from - right.from)
    .flatMap(({ from, text }) => parseLines(text, from));
}

function partKey(from: number): string {
  return `n${String(from).padStart(PART_DIGITS, '0')}`;
}

function latestOf({ entries }: ChunkWrite): Date {
  return new Date(Math.max(...entries.map(({ at }) => at.getTime())));
}

function daysOf({ workspace }: OwningTask, { entries }: ChunkWrite): string[] {
  return [...new Set(entries.map(({ at, type }) => dayKey(workspace, type, dateOf(at))))];
}

/** `2026-11-22`, in UTC. */
export function dateOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}
