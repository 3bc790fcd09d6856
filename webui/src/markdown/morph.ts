/** Change a tree into another one with as few edits as possible, so that selections and focus survive. */

export function morph(from: Element, to: Element): void {
  syncAttributes(from, to);
  let mine = from.firstChild;
  let theirs = to.firstChild;
  while (theirs !== null) {
    const next = theirs.nextSibling;
    if (mine === null) {
      from.append(theirs);
    } else {
      const following: ChildNode | null = mine.nextSibling;
      if (isElement(mine) && isElement(theirs) && mine.nodeName === theirs.nodeName) {
        if (!mine.isEqualNode(theirs)) morph(mine, theirs);
      } else if (mine.nodeType === theirs.nodeType && !isElement(mine)) {
        if (mine.nodeValue !== theirs.nodeValue) mine.nodeValue = theirs.nodeValue;
      } else {
        mine.replaceWith(theirs);
      }
      mine = following;
    }
    theirs = next;
  }
  while (mine !== null) {
    const following: ChildNode | null = mine.nextSibling;
    mine.remove();
    mine = following;
  }
}

function isElement(node: Node): node is Element {
  return node.nodeType === 1;
}

function syncAttributes(from: Element, to: Element): void {
  for (const name of from.getAttributeNames()) {
    if (!to.hasAttribute(name)) from.removeAttribute(name);
  }
  for (const name of to.getAttributeNames()) {
    const value = to.getAttribute(name)!;
    if (from.getAttribute(name) !== value) from.setAttribute(name, value);
  }
}
