import { useLive } from '../live/live.ts';
import * as queries from '../live/queries.ts';
import { runDocument } from '../live/runDocument.ts';
import { document } from '../live/sources.ts';
import { addressOf } from '../router.ts';
import { PAGES } from '../shell/screens.ts';
import { Linked, type TitleProps } from './Title.tsx';

/** Title of a run by its id, as a link to its page. */
export function RunTitle({ id, otherwise, limit = 120 }: TitleProps) {
  const live = useLive(document(queries.run(id), runDocument));
  return (
    <Linked
      live={live}
      href={addressOf([PAGES.run, id])}
      titleOf={({ title }) => title}
      otherwise={otherwise}
      limit={limit}
    />
  );
}
