/** The text of shop-list.ts without the lines of these shops. */
export const withoutShops = (text, names) =>
  names.reduce((rest, name) => {
    const left = rest
      .replace(new RegExp(`^import .*'\\./shops/${name}/index\\.ts'\n`, 'm'), '')
      .replace(new RegExp(`^  ${name}Shop,\n`, 'm'), '')
    if (left.includes(`${name}Shop`) || left === rest) throw new Error(`${name} could not be removed`)
    return left
  }, text)
