"""What runs in a page to find texts that do not fit, in any language and any browser."""

from __future__ import annotations

CUT_OFF = """async (host) => {
    const cut = new Set();
    const catalog = ".title, .words, .said, dd, dt, option, .credit, fieldset label";
    const clips = (node, axis) => ["hidden", "clip"].includes(getComputedStyle(node)[axis]);
    const scrolls = (node) => ["auto", "scroll"].includes(getComputedStyle(node).overflowX);
    const check = (text, range) => {
        const boxes = [...range.getClientRects()].filter((box) => box.width > 1 && box.height > 1);
        for (const box of boxes) {
            let node = text.parentElement;
            for (; node; node = node.parentElement) {
                const frame = node.getBoundingClientRect();
                // For those who hear the page, and only for them.
                if (frame.width <= 1) break;
                if (scrolls(node) && node.matches(".strip")) break;
                const outside = box.left < frame.left - 1 || box.right > frame.right + 1;
                const below = box.bottom > frame.bottom + 2 || box.top < frame.top - 2;
                if (clips(node, "overflowX") && outside) cut.add(text.data);
                if (clips(node, "overflowY") && below) cut.add(text.data);
            }
            if (!node && (box.left < -1 || box.right > innerWidth + 1)) cut.add(text.data);
        }
    };
    const walker = document.createTreeWalker(host.shadowRoot, NodeFilter.SHOW_TEXT);
    for (let text = walker.nextNode(); text; text = walker.nextNode()) {
        const visible = text.parentElement.checkVisibility({ visibilityProperty: true });
        if (!text.data.trim() || !visible || text.parentElement.closest(catalog)) continue;
        const range = document.createRange();
        range.selectNodeContents(text);
        check(text, range);
    }
    const pen = document.createElement("canvas").getContext("2d");
    for (const input of host.shadowRoot.querySelectorAll("input[type=search]")) {
        const style = getComputedStyle(input);
        pen.font = style.font;
        // Whether clientWidth counts the padding is another thing in each browser.
        const around = ["paddingLeft", "paddingRight", "borderLeftWidth", "borderRightWidth"]
            .reduce((sum, name) => sum + parseFloat(style[name]), 0);
        const room = input.getBoundingClientRect().width - around;
        const said = await import(`/web/languages/${host.lang || "en"}.js`);
        const texts = ["describe", "addWords"].map((name) => said.default[`searchBox.${name}`]);
        for (const text of [input.placeholder, ...texts])
            if (pen.measureText(text).width > room + 1) cut.add(text);
    }
    // What is seen where a mouse is has its place already.
    for (const one of host.shadowRoot.querySelectorAll(".card .corner button")) {
        const [box, card] = [one, one.closest(".card")].map((part) => part.getBoundingClientRect());
        if (box.width && (box.left < card.left || box.right > card.right)) cut.add(one.textContent);
    }
    if (document.documentElement.scrollWidth > innerWidth) cut.add("the page itself");
    return [...cut];
}"""
"""Given the element: all of its texts that are cut off."""

SPEAK = """async (host, tag) => {
    const root = () => host.shadowRoot.querySelector(".seeker");
    const before = root();
    host.setAttribute("lang", tag);
    while (root() === before || !host.session) await new Promise(requestAnimationFrame);
    return [root().lang, getComputedStyle(root()).direction];
}"""
"""Given the element and a language: speak it, and tell which it is and how it runs."""
