/** A balance pan in a circle: small enough to live in the source. */
export const iconSvg =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="15" fill="#0b3d2e"/>' +
  '<path d="M16 6v18M10 25h12M7 10h18M7 10l-3 7h6zM25 10l-3 7h6z" fill="none" stroke="#f4d58d" stroke-width="2" ' +
  'stroke-linejoin="round" stroke-linecap="round"/></svg>'
