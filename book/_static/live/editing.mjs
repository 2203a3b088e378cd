// The editor of one cell: CodeMirror with the keys that a notebook has.

import {
  EditorState, EditorView, HighlightStyle, bracketMatching, closeBrackets, closeBracketsKeymap, defaultKeymap,
  drawSelection, history, historyKeymap, indentOnInput, indentUnit, indentWithTab, keymap, python, syntaxHighlighting, tags,
} from "./codemirror.js";

const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.bool, tags.null], color: "var(--vw-code-keyword)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--vw-code-string)" },
  { tag: tags.number, color: "var(--vw-code-number)" },
  { tag: tags.comment, color: "var(--vw-code-comment)", fontStyle: "italic" },
  { tag: [tags.function(tags.definition(tags.variableName)), tags.definition(tags.className)], color: "var(--vw-code-name)" },
]);

/**
 * Open an editor.
 *
 * @param {string} text what stands in it first
 * @param {{label: string, run: () => void, typed: () => void}} does its name, and what its keys and its changes do
 */
export function open(text, { label, run, typed }) {
  const element = document.createElement("div");
  element.className = "vw-editor";
  const runs = { run: () => (run(), true) };
  const view = new EditorView({
    parent: element,
    state: EditorState.create({
      doc: text,
      extensions: [
        keymap.of([{ key: "Shift-Enter", ...runs }, { key: "Mod-Enter", ...runs }]),
        history(), drawSelection(), indentOnInput(), indentUnit.of("    "), bracketMatching(), closeBrackets(),
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, indentWithTab]),
        python(), syntaxHighlighting(COLOURS), EditorView.lineWrapping,
        EditorView.contentAttributes.of({
          "aria-label": `${label}. Shift Enter runs it; Escape, then Tab leaves the editor.`,
          autocapitalize: "off", autocorrect: "off", spellcheck: "false",
        }),
        EditorView.updateListener.of((update) => update.docChanged && typed()),
      ],
    }),
  });
  return { element, text: () => view.state.doc.toString(), focus: () => view.focus() };
}
