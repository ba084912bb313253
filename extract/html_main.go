package extract

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// mainContent returns the part of a page that is its content, with menus and notices
// removed from the tree, and how many words were left out.
func mainContent(root *html.Node) (*html.Node, int) {
	body := find(root, func(n *html.Node) bool { return n.DataAtom == atom.Body })
	if body == nil {
		return root, 0
	}
	removeHidden(body)
	all := wordCount(body)
	content := body
	if declared := declaredMain(body, all); declared != nil {
		content = declared
	}
	prune(content, content != body, all)
	return content, all - wordCount(content)
}

// find returns the first node in document order that is one of those looked for.
func find(root *html.Node, is func(*html.Node) bool) *html.Node {
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && is(n) {
			return n
		}
	}
	return nil
}

func wordCount(n *html.Node) int { return len(strings.Fields(textOf(n))) }

// remove takes nodes out of the tree.
func remove(nodes []*html.Node) {
	for _, n := range nodes {
		if n.Parent != nil {
			n.Parent.RemoveChild(n)
		}
	}
}

var hiddenStyle = regexp.MustCompile(`(?i)display\s*:\s*none|visibility\s*:\s*hidden`)

// removeHidden takes out what no reader sees.
func removeHidden(body *html.Node) {
	var out []*html.Node
	for n := range body.Descendants() {
		if n.Type == html.CommentNode || n.Type == html.ElementNode && isHidden(n) {
			out = append(out, n)
		}
	}
	remove(out)
}

func isHidden(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Svg, atom.Iframe, atom.Object, atom.Canvas, atom.Head, atom.Link, atom.Meta, atom.Title,
		atom.Audio, atom.Video, atom.Map, atom.Datalist, atom.Select, atom.Textarea, atom.Button:
		return true
	}
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return !strings.EqualFold(a.Val, "false")
		case "style":
			if hiddenStyle.MatchString(a.Val) {
				return true
			}
		}
	}
	return false
}

// declaredMain returns the element a page declares to be its content: main, or its only
// article with a good part of the text.
func declaredMain(body *html.Node, all int) *html.Node {
	var mains, articles []*html.Node
	for n := range body.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch {
		case n.DataAtom == atom.Main || strings.EqualFold(attribute(n, "role"), "main"):
			mains = append(mains, n)
		case n.DataAtom == atom.Article && find(n, func(c *html.Node) bool { return c.DataAtom == atom.Article }) == nil:
			articles = append(articles, n)
		}
	}
	if len(mains) == 1 && wordCount(mains[0]) >= min(20, all) {
		return mains[0]
	}
	if len(articles) == 1 && wordCount(articles[0]) >= min(30, all/3) {
		return articles[0]
	}
	return nil
}

var (
	chromeRole  = regexp.MustCompile(`(?i)^(navigation|banner|contentinfo|complementary|search|dialog|alertdialog|menu|menubar|toolbar)$`)
	chromeClass = regexp.MustCompile(`(?i)(^|[\s_-])(cookies?|consent|gdpr|ccpa|navbar|nav|navigation|menu|breadcrumbs?|sidebar|side-bar|footer|site-header|masthead|newsletter|subscribe|signup|social|share|sharing|related|recommended|advert|advertisement|ads?|promo|sponsored|popup|modal|overlay|skip-?(link|nav|to)|pagination|pager|comments|disqus|toolbar|jump-?link|mw-editsection|navbox|noprint)([\s_-]|$)`)
	consentWord = regexp.MustCompile(`(?i)\b(cookies?|consent)\b`)
	consentAct  = regexp.MustCompile(`(?i)\b(accept|reject|preferences|necessary|partners|manage)\b`)
)

// prune takes menus, notices and the like out of the content. What is removed by its
// name or its look must leave a page behind: if next to nothing is left, the page is
// made of it, and it stays.
func prune(content *html.Node, declared bool, all int) {
	var out []*html.Node
	taken := 0
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type != html.ElementNode {
				continue
			}
			if isChrome(c, declared) {
				out = append(out, c)
				taken += wordCount(c)
				continue
			}
			walk(c)
		}
	}
	walk(content)
	if left := wordCount(content) - taken; left < 10 && taken > 3*left && all > 0 {
		return
	}
	remove(out)
}

// isChrome reports whether an element is the frame of a page and not its content.
func isChrome(n *html.Node, declared bool) bool {
	switch n.DataAtom {
	case atom.Nav, atom.Dialog:
		return true
	case atom.Footer, atom.Aside:
		return !declared || n.DataAtom == atom.Aside && chromeNamed(n)
	case atom.Header:
		return !declared && find(n, func(c *html.Node) bool { return c.DataAtom == atom.H1 }) == nil
	case atom.Body, atom.Main, atom.Article, atom.H1, atom.P, atom.Table, atom.Tbody, atom.Tr, atom.Td, atom.Th, atom.Pre, atom.Code:
		return false
	}
	if chromeRole.MatchString(attribute(n, "role")) || strings.EqualFold(attribute(n, "aria-hidden"), "true") && n.DataAtom != atom.Span {
		return true
	}
	if !isBlock(n.DataAtom) && n.DataAtom != atom.Span {
		return false
	}
	if chromeNamed(n) && find(n, func(c *html.Node) bool {
		return c.DataAtom == atom.H1 || c.DataAtom == atom.Article || c.DataAtom == atom.Main
	}) == nil {
		return true
	}
	return !declared && (isConsent(n) || isMenu(n))
}

func chromeNamed(n *html.Node) bool {
	return chromeClass.MatchString(attribute(n, "class")) || chromeClass.MatchString(attribute(n, "id"))
}

// isConsent reports whether a block asks for consent to cookies, by what it talks about.
func isConsent(n *html.Node) bool {
	if n.DataAtom != atom.Div && n.DataAtom != atom.Section && n.DataAtom != atom.Form {
		return false
	}
	text := textOf(n)
	words := len(strings.Fields(text))
	if words > 1500 || find(n, func(c *html.Node) bool {
		return c.DataAtom == atom.H1 || c.DataAtom == atom.Article || c.DataAtom == atom.Main
	}) != nil {
		return false
	}
	about := len(consentWord.FindAllStringIndex(text, 60))
	return about >= 2 && about*40 >= words && consentAct.MatchString(text)
}

// isMenu reports whether a block is nearly all links.
func isMenu(n *html.Node) bool {
	if n.DataAtom != atom.Ul && n.DataAtom != atom.Div && n.DataAtom != atom.Ol {
		return false
	}
	links, linked := 0, 0
	for c := range n.Descendants() {
		if c.DataAtom == atom.A && c.Type == html.ElementNode {
			links++
			linked += len(strings.Join(strings.Fields(textOf(c)), ""))
		}
	}
	all := len(strings.Join(strings.Fields(textOf(n)), ""))
	return links >= 4 && linked*10 >= all*9 && all < links*40
}
