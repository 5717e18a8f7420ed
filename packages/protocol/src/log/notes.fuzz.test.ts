import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyText } from '../any-text.fixture.ts'
import { parseCheckpoint } from './checkpoint.ts'
import { isSignedBy, parseNote, parseNoteKey } from './signed-note.ts'
import { parseTilePath, tileIndexPath } from './tile-path.ts'

describe('paths of tiles', () => {
  test('are those of the specification', () => {
    expect(tileIndexPath(1_234_067)).toBe('x001/x234/067')
    expect(parseTilePath('0', ['x001', 'x234', '067'])).toEqual({ level: 0, tile: 1_234_067, width: 256 })
    expect(parseTilePath('entries', ['000.p', '17'])).toEqual({ level: 'entries', tile: 0, width: 17 })
  })

  test('lead to one tile each, and nothing else is one', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 999_999_999 }),
        fc.nat({ max: 63 }),
        fc.integer({ min: 1, max: 256 }),
        (tile, level, width) => {
          const segments = tileIndexPath(tile).split('/')
          const path = width === 256 ? segments : [...segments.slice(0, -1), `${segments.at(-1)}.p`, String(width)]
          expect(parseTilePath(String(level), path)).toEqual({ level, tile, width })
        },
      ),
    )
    for (const bad of [
      ['0'],
      ['0000'],
      ['x000', '001'],
      ['001', '067'],
      ['000.p'],
      ['000.p', '0'],
      ['000.p', '256'],
      ['000.p', '01'],
      [],
    ])
      expect(parseTilePath('0', bad), bad.join('/')).toBeUndefined()
    for (const level of ['00', '64', '-1', '1.0', 'x']) expect(parseTilePath(level, ['000'])).toBeUndefined()
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string(), { maxLength: 5 }), (level, segments) => {
        parseTilePath(level, segments)
      }),
    )
  })
})

describe('signed notes', () => {
  // The example of c2sp.org/signed-note.
  const vkey = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k'
  const example =
    'This is an example message.\n\n— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n'

  test('verify as the example of the specification does', async () => {
    const key = parseNoteKey(vkey)
    const note = parseNote(example)
    if (!key || !note) throw new Error('the example is not read')
    expect(await isSignedBy(note, key)).toBe(true)
    expect(await isSignedBy({ ...note, text: 'This is another message.\n' }, key)).toBe(false)
    expect(parseNoteKey(vkey.replace('530d903a', '530d903b'))).toBeUndefined()
  })

  test('never throw on what is no note', () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        parseNote(text)
        parseCheckpoint(`${text}\n\n${text}`)
        parseNoteKey(text)
      }),
    )
  })
})
