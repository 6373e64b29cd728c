import fc from 'fast-check';

/** Generates texts of any UTF-16 units, including lone surrogates and control characters. */
export const anyText = (maxLength = 40): fc.Arbitrary<string> => {
  const unit = fc.oneof(
    fc.constantFrom(0, 9, 10, 34, 92, 0xd83d, 0xde80),
    fc.nat({ max: 0xff }),
    fc.nat({ max: 0xffff }),
  );
  return fc.array(unit, { maxLength }).map((units) => String.fromCharCode(...units));
};
