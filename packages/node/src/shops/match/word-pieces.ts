import { normalizeText } from './tokenize.ts'

export type Encoded = { ids: number[]; types: number[] }

/** Question and passage as a model of the BERT family reads them (WordPiece, lower case), at most `lengthMax` pieces. */
export type EncodePair = (question: string, passage: string, lengthMax: number) => Encoded

const wordLettersMax = 100
const cjk = /\p{Script=Han}/u
const wordPattern = /\p{Script=Han}|[\p{L}\p{M}\p{N}]+|[^\p{L}\p{M}\p{N}\s]/gu

/** `vocabulary`: one piece a line, as `vocab.txt` of a model has them. */
export function createWordPieces(vocabulary: string): EncodePair {
  const pieces = new Map(vocabulary.split(/\r?\n/).map((piece, at) => [piece, at] as const))
  const special = (name: string) => {
    const id = pieces.get(name)
    if (id === undefined) throw new RangeError(`the vocabulary has no ${name}`)
    return id
  }
  const [unknown, start, end] = [special('[UNK]'), special('[CLS]'), special('[SEP]')]
  const idsOf = (text: string, most: number): number[] => {
    const ids: number[] = []
    for (const [word] of normalizeText(text).matchAll(wordPattern)) {
      if (ids.length >= most) break
      ids.push(...(splitWord(word, pieces) ?? [unknown]))
    }
    return ids.slice(0, most)
  }
  return (question, passage, lengthMax) => {
    const asked = idsOf(question, Math.floor(lengthMax / 2))
    const said = idsOf(passage, Math.max(0, lengthMax - asked.length - 3))
    return {
      ids: [start, ...asked, end, ...said, end],
      types: [...new Array<number>(asked.length + 2).fill(0), ...new Array<number>(said.length + 1).fill(1)],
    }
  }
}

/** Longest pieces first; undefined where the word cannot be made of pieces. */
function splitWord(word: string, pieces: ReadonlyMap<string, number>): number[] | undefined {
  const letters = [...word]
  if (letters.length > wordLettersMax) return undefined
  const ids: number[] = []
  for (let from = 0; from < letters.length; ) {
    let to = letters.length
    let id: number | undefined
    for (; to > from; to -= 1) {
      const piece = letters.slice(from, to).join('')
      id = pieces.get(from === 0 || cjk.test(piece) ? piece : `##${piece}`)
      if (id !== undefined) break
    }
    if (id === undefined) return undefined
    ids.push(id)
    from = to
  }
  return ids
}
