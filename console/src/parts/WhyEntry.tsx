import { task as text } from '../../text/task.ts';
import { Entry } from '../../ui/Menu.tsx';
import { askedWhy, type Question } from './dialogs.ts';

/** Entry of a menu that opens the dialog about an item. */
export function WhyEntry({ question }: { readonly question: Question }) {
  return <Entry icon="question" label={text.why} choose={() => (askedWhy.value = question)} />;
}
