/** Baseline of the to-do tools: a function that makes only the tools' Firestore operations. */
import { Firestore } from '@google-cloud/firestore';
import { onRequest } from 'firebase-functions/https';
import { z } from 'zod';
import { type BareTodos, bareTodos } from './bareTodos.ts';

const request = z.object({ caller: z.int(), act: z.enum(['add', 'complete', 'list']) });
const firestore = new Firestore();
const callers = new Map<number, Promise<BareTodos>>();

export const todos = onRequest(async ({ body }, response) => {
  const { caller, act } = request.parse(body);
  const known = callers.get(caller) ?? bareTodos(firestore, caller);
  callers.set(caller, known);
  response.json(await (await known)[act]());
});
