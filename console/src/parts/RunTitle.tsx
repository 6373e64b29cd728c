import * as queries from '../live/queries.ts';
import { runDocument } from '../live/runDocument.ts';
import { document } from '../live/sources.ts';
import { PAGES } from '../shell/screens.ts';
import { Linked, type TitleProps } from './Title.tsx';

/** Title of a run by its id, as a link to its page. */
export function RunTitle(props: TitleProps) {
  const source = document(queries.run(props.id), runDocument);
  return <Linked {...props} source={source} page={PAGES.run} titleOf={({ title }) => title} />;
}
