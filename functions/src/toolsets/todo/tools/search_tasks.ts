import { z } from 'zod';
import { textUpTo } from '../../../mcp/tool.ts';
import { defineTool, reading } from './todoAnswers.ts';
import { cursor, listAnswer, listedLimit, listShape, pageOf } from './todoLists.ts';

export const searchTasks = defineTool({
  name: 'search_tasks',
  title: 'Search to-dos',
  description: 'Finds to-dos whose title and description have all the words, or words that begin so.',
  details:
    'Case and accents do not count, nor what a word has after 15 letters. Of a very long description with hundreds of long words, the last may not be found. Tasks with all words in the title come first; within an answer the newer come before the older.',
  input: z.strictObject({ query: textUpTo(200).describe('Words to find'), limit: listedLimit, cursor }),
  output: listShape,
  ...reading,
  example: { query: 'meeting' },
  handler: async ({ services, principal }, { query, ...page }) => {
    const found = await services.todos.search(principal.owner_uid, query, pageOf({ query }, page));
    return listAnswer({ services, principal }, { query }, found, page);
  },
});
