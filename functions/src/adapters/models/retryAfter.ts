/**
 * When a vendor wants to be asked again, in milliseconds from now.
 * Source: https://www.rfc-editor.org/rfc/rfc9110#field.retry-after; `retry-after-ms` is a precise variant of some.
 */
export function retryAfterMs(headers: Headers | undefined, now = Date.now()): number | undefined {
  const precise = milliseconds(headers?.get('retry-after-ms'), 1);
  if (precise !== undefined) return precise;
  const text = headers?.get('retry-after');
  return milliseconds(text, 1000) ?? until(text, now);
}

function milliseconds(text: string | null | undefined, unit: number): number | undefined {
  return text != null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Math.ceil(Number(text) * unit) : undefined;
}

/** All three forms of a date that HTTP knows begin with the day's name. */
function until(text: string | null | undefined, now: number): number | undefined {
  const instant = text != null && /^[A-Z][a-z]{2}/.test(text.trim()) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(instant) ? undefined : Math.max(0, instant - now);
}
