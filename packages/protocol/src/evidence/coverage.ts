/** Every scalar and every empty list or object below a value, as `a.b[0].c`. */
function fieldsOf(value: unknown, at: string): string[] {
  if (typeof value !== 'object' || value === null) return [at]
  const below = Array.isArray(value)
    ? value.flatMap((item, index) => fieldsOf(item, `${at}[${index}]`))
    : Object.entries(value).flatMap(([name, item]) => fieldsOf(item, at === '' ? name : `${at}.${name}`))
  return below.length === 0 ? [at] : below
}

/** The fields that a file shows and no check vouches for. A field that nobody knows yet is one of them. */
export function uncoveredFields(file: unknown, covers: readonly string[]): string[] {
  const exact = new Set(covers)
  const trees = covers.filter((path) => path.endsWith('.**')).map((path) => path.slice(0, -'.**'.length))
  const below = (field: string) => trees.some((tree) => field.startsWith(`${tree}.`) || field.startsWith(`${tree}[`))
  return fieldsOf(file, '').filter((field) => !exact.has(field) && !below(field))
}
