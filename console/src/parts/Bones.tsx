import { common } from '../../text/common.ts';

/** Lines in the shape of a list that loads. They appear after 200 ms, so that fast data does not flicker. */
export function Bones({ lines = 3 }: { readonly lines?: number }) {
  return (
    <div class="bones" role="status">
      <span class="away">{common.loading}</span>
      {Array.from({ length: lines }, (_none, index) => (
        <span key={index} class={`bone ${['most', 'half', ''][index % 3]}`} />
      ))}
    </div>
  );
}
