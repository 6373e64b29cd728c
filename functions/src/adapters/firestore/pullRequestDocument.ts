import { z } from 'zod';
import type { PullRequestLink } from '../../domain/github/link.ts';
import { type DocumentCodec, documentCodec } from './codec.ts';
import { timestamp } from './timestamp.ts';

export const { toDocument: linkToDocument, fromDocument: linkFromDocument }: DocumentCodec<PullRequestLink> =
  documentCodec(
    z.object({
      repository_id: z.number(),
      number: z.number(),
      owner: z.string(),
      repo: z.string(),
      task_id: z.string(),
      linked_by: z.string(),
      linked_at: timestamp,
    }),
  );
