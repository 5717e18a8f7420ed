import { normalText } from '../../sources/page/index.ts'

export type FoundQuote = {
  found: boolean
  /** In characters of the normalised text of the page. */
  offset: number | null
  /** Leads a browser to the passage. */
  textFragment: string | null
}

const wholeFragmentMax = 120
const edgeWords = 6

/** Searches for the exact words, whatever the white space between them. */
export function findQuote(pageText: string, quote: string): FoundQuote {
  const wanted = normalText(quote)
  const offset = wanted === '' ? -1 : normalText(pageText).indexOf(wanted)
  return offset < 0
    ? { found: false, offset: null, textFragment: null }
    : { found: true, offset, textFragment: textFragment(wanted) }
}

/** Long quotes are named by their first and last words. */
function textFragment(quote: string): string {
  const words = quote.split(' ')
  const parts =
    quote.length <= wholeFragmentMax || words.length <= edgeWords * 2
      ? [quote.slice(0, 1_000)]
      : [words.slice(0, edgeWords).join(' '), words.slice(-edgeWords).join(' ')]
  return `#:~:text=${parts.map(encodePart).join(',')}`
}

// A dash would be read as a prefix mark; a lone half of a surrogate pair cannot be encoded at all.
const encodePart = (text: string) => encodeURIComponent(Buffer.from(text).toString()).replaceAll('-', '%2D')
